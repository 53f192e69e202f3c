#!/usr/bin/env bash
# Runs Python with the built wheel on its path: SCRIPT or -m MODULE [ARGUMENT...].
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "building the wheel..." >&2
installed="$(tools/unpack_wheel.sh)"
PYTHONPATH="${installed}:${PWD}" TF_CPP_MIN_LOG_LEVEL="${TF_CPP_MIN_LOG_LEVEL:-2}" \
  JAX_PLATFORMS="${JAX_PLATFORMS:-cpu}" \
  exec .venv/bin/python -P "$@"
