#!/usr/bin/env bash
# Runs the PyMC recipe of docs/guide.md on the wheel. PyMC has an environment of
# its own, from requirements/*/pymc.txt, which is made once, in the cache that
# all clones share. It is not a Bazel test, since Bazel's have `.venv`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh
source tools/environments.sh

lock_environments
use_venv "$(base_python .venv/bin/python)" pymc
unlock_environments
installed="$(tools/unpack_wheel.sh)"
PYTHONPATH="${installed}" JAX_PLATFORMS=cpu exec "${venv}/bin/python" -B \
  tests/pymc/recipe_test.py
