#!/usr/bin/env bash
# mypy on the sources as they stand and on the generated packages.
#
#   tools/typecheck.sh          both
#   tools/typecheck.sh sources  the sources alone
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh

# Clones share mypy's caches, which two processes must not write at once.
if command -v flock >/dev/null; then
  exec 7>>"${PHASIC_CACHE}/mypy.lock"
  flock 7
fi

status=0
echo "typecheck: sources" >&2
.venv/bin/mypy --cache-dir "${PHASIC_CACHE}/mypy/sources" \
  -p phasic -p substrates.meta -p tools || status=1
if [[ "${1:-}" == sources ]]; then exit "${status}"; fi

# Bazel's server, which may start here and stays, must not inherit the lock.
generated="$(tools/unpack_wheel.sh 7>&-)" || exit 1
check_generated() {  # substrate
  echo "typecheck: generated, $1" >&2
  cd "${generated}" &&
    "${ROOT}/.venv/bin/mypy" --config-file "${ROOT}/pyproject.toml" \
      --cache-dir "${PHASIC_CACHE}/mypy/$1" -p "phasic.substrates.$1"
}
export ROOT="${PWD}" PHASIC_CACHE generated
export -f check_generated
# mypy is one process; an empty cache makes it a minute's work for each.
printf '%s\n' numpy jax tf |
  xargs -n 1 -P 2 bash -c 'check_generated "$1"' _ || status=1
echo "typecheck: programs of users" >&2
users="$(mktemp -d)"
trap 'rm -rf "${users}"' EXIT
cp tests/users/[!_]*.py "${users}"
(
  cd "${users}" &&
    MYPYPATH="${generated}" "${OLDPWD}/.venv/bin/mypy" --strict --follow-imports=silent \
      --config-file "${OLDPWD}/pyproject.toml" \
      --cache-dir "${PHASIC_CACHE}/mypy/users" ./*.py
) || status=1
if ((status)); then
  echo "typecheck: failed" >&2
else
  echo "typecheck: ok" >&2
fi
exit "${status}"
