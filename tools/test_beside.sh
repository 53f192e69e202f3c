#!/usr/bin/env bash
# Runs a test on the wheel, in an environment of its own beside .venv, which is made
# once from requirements/*/NAME.txt: NAME TEST [ARGUMENT...]. These are not Bazel's
# tests, which have `.venv`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh
source tools/environments.sh

use_own_venv "$1"
shift
installed="$(tools/unpack_wheel.sh)"
PYTHONPATH="${installed}" JAX_PLATFORMS=cpu exec "${venv}/bin/python" -B "$@"
