#!/usr/bin/env bash
# Compares exact values of genealogies with simulations of msprime, on the wheel.
# msprime has an environment of its own, from requirements/*/msprime.txt, which
# is made once, in the cache that all clones share. It is not a Bazel test, since
# Bazel's have `.venv`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh
source tools/environments.sh

lock_environments
use_venv "$(base_python .venv/bin/python)" msprime
unlock_environments
installed="$(tools/unpack_wheel.sh)"
PYTHONPATH="${installed}" exec "${venv}/bin/python" -B \
  tests/msprime/ancestry_test.py "$@"
