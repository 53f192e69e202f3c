#!/usr/bin/env bash
# Builds the wheel for a Python, whatever Python this clone is set up for, and
# copies it into a folder: PYTHON FOLDER. Prints the wheel's path. The Python
# needs an environment of its own, of up to 2.7 GB, made once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh
source tools/environments.sh

python="$1"
output="$2"
lock_environments
check_headers "${python}"
use_venv "${python}" dev jax tf
use_jax_headers "${venv}/bin/python"
unlock_environments

options=()
# The environment of this clone is in .bazelrc.local.
if [[ "$(readlink .venv)" != "${venv}" ]]; then
  stamp="$("${venv}/bin/python" tools/freeze.py | sha256sum | cut -c1-16)"
  options=(
    "--repo_env=PHASIC_PYTHON=${venv}/bin/python"
    "--repo_env=PHASIC_ENV_STAMP=${stamp}"
    "--repo_env=PHASIC_JAX_HEADERS=${headers}"
  )
fi
bazel build --ui_event_filters=-info --noshow_progress "${options[@]}" \
  //tools/wheel:wheel >&2
wheel="$(ls .bazel/bin/tools/wheel/wheel/*.whl)"
mkdir -p "${output}"
install -m 644 "${wheel}" "${output}/"
echo "${output}/$(basename "${wheel}")"
