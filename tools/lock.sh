#!/usr/bin/env bash
# Writes the pinned locks, requirements-*.txt, from requirements-*.in with uv.
# One resolution for all of them, so that any subset can be installed together.
# UV names the uv binary; UPGRADE=1 takes the newest versions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

UV="${UV:-uv}"
command -v "${UV}" >/dev/null || {
  echo "lock: uv is missing; install it (pip install uv) or set UV." >&2
  exit 1
}

tmp="$(mktemp -d)"
trap 'rm -rf "${tmp}"' EXIT

compile() {  # output, then inputs and options
  local output="$1"
  shift
  "${UV}" pip compile --quiet --no-annotate --generate-hashes \
    --override tools/lock_overrides.txt --python-version 3.11 \
    --custom-compile-command "make lock" --output-file "${output}" "$@"
}

keep=()
if [[ -z "${UPGRADE:-}" && -e requirements-dev.txt ]]; then
  cat requirements-*.txt | grep -v -e --hash | tr -d '\\' |
    sort -u > "${tmp}/pins.txt"
  keep=(--constraint "${tmp}/pins.txt")
fi
compile "${tmp}/all.txt" "${keep[@]}" requirements-{dev,jax,tf}.in
for name in dev jax tf; do
  compile "${tmp}/${name}.txt" "requirements-${name}.in" \
    --constraint "${tmp}/all.txt"
  mv "${tmp}/${name}.txt" "requirements-${name}.txt"
done
