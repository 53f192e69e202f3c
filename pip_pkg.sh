#!/usr/bin/env bash
# Builds the wheel and copies it to dist/, or to the directory given.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

output="${1:-dist}"
[[ -x .venv/bin/python ]] || {
  echo "pip_pkg: run ./setup.sh first." >&2
  exit 1
}
bazel build //tools/wheel:wheel || {
  echo "pip_pkg: no wheel; it has all substrates, so the environment needs" \
    "JAX and TensorFlow: PHASIC_SUBSTRATES=\"jax tf\" ./setup.sh" >&2
  exit 1
}
mkdir -p "${output}"
rm -f "${output}"/phasic_substrates-*.whl
install -m 644 .bazel/bin/tools/wheel/wheel/*.whl "${output}/"
echo "${output}/$(basename .bazel/bin/tools/wheel/wheel/*.whl)"
