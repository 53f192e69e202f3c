#!/usr/bin/env bash
# Builds the sdist, and from it the wheel for a Python as pip does: in an environment
# of its own with what PyPI has, and without Bazel. Copies the wheel into a folder:
# PYTHON FOLDER, and prints its path. CC, CXX and CMAKE_ARGS are read by CMake.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python="$1"
output="$2"
scratch="$(mktemp -d)"
trap 'rm -rf "${scratch}"' EXIT

sdist="$(tools/sdist.sh "${scratch}")"
mkdir -p "${scratch}/bin" "${output}"
printf '#!/bin/sh\necho "the sdist calls Bazel" >&2\nexit 1\n' > "${scratch}/bin/bazel"
chmod +x "${scratch}/bin/bazel"
"${python}" -m venv "${scratch}/venv"
PATH="${scratch}/bin:${PATH}" "${scratch}/venv/bin/python" -m pip wheel \
  --disable-pip-version-check --quiet --no-deps --wheel-dir "${scratch}" \
  "${sdist}" >&2
wheel="$(ls "${scratch}"/*.whl)"
install -m 644 "${wheel}" "${output}/"
echo "${output}/$(basename "${wheel}")"
