#!/usr/bin/env bash
# mypy on the sources as they stand and on the generated packages.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

status=0
echo "typecheck: sources" >&2
.venv/bin/mypy -p phasic -p substrates.meta -p tools || status=1

generated="$(tools/unpack_wheel.sh)" || exit 1
for substrate in numpy jax tf; do
  echo "typecheck: generated, ${substrate}" >&2
  (
    cd "${generated}" &&
      "${OLDPWD}/.venv/bin/mypy" --config-file "${OLDPWD}/pyproject.toml" \
        --cache-dir "${OLDPWD}/.mypy_cache/${substrate}" \
        -p "phasic.substrates.${substrate}"
  ) || status=1
done
if ((status)); then
  echo "typecheck: failed" >&2
else
  echo "typecheck: ok" >&2
fi
exit "${status}"
