#!/usr/bin/env bash
# Builds the wheel twice and compares the bytes: as it comes here, with Bazel's
# cache, and from a copy of the working tree in a new folder, without the cache,
# in another time zone and with another umask. All is compiled anew there, which
# takes a quarter of an hour of a processor, or more; JOBS=2 limits how many
# compilers run at once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh
source tools/environments.sh

wheels="${PWD}/.build/reproducible"
scratch="$(mktemp -d)"
copy="${scratch}/another-name"
clean() {
  (cd "${copy}" 2>/dev/null && bazel clean --expunge >/dev/null 2>&1) || true
  rm -rf "${scratch}"
}
trap clean EXIT

rm -rf "${wheels}"
./pip_pkg.sh "${wheels}/here"

mkdir "${copy}"
git ls-files -z --cached --others --exclude-standard |
  while IFS= read -r -d '' name; do
    if [[ -e "${name}" || -L "${name}" ]]; then printf '%s\0' "${name}"; fi
  done |
  tar -c --null -T - | tar -x -C "${copy}"
python="$(base_python .venv/bin/python)"
(
  cd "${copy}"
  PYTHON="${python}" ./setup.sh
  # The last file of options wins.
  echo "build --disk_cache= --jobs=${JOBS:-2}" >> .bazelrc.local
  umask 077
  TZ=Asia/Kathmandu ./pip_pkg.sh "${wheels}/copy"
)
.venv/bin/python -m tools.wheel.compare "${wheels}"/{here,copy}/*.whl
