#!/usr/bin/env bash
# Builds a wheel for each Python that there are locks for and that is found here,
# and the one for any system,
# into dist/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh
source tools/environments.sh

for version in $(supported_pythons); do
  python="$(find_any_python "${version}")"
  if [[ -z "${python}" ]]; then
    say "no Python ${version} found: no wheel for it (PYTHONS names others)"
    continue
  fi
  tools/build_wheel.sh "${python}" dist
done
tools/build_any_wheel.sh dist
