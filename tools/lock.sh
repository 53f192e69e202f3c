#!/usr/bin/env bash
# Writes the locks: requirements/*.in, resolved by uv for each Python that has a
# folder there. `.venv`'s are one resolution, so that any subset of them can be
# installed together; each environment of `make test-versions`, `make test-pymc`,
# `make test-msprime`, `make references`, `make mutants`, `make bench-peers` and
# `make wheels` is a resolution of its own; that of `make docs` keeps to the versions of
# `.venv`. UV names the uv binary; UPGRADE=1 takes the newest versions; PYTHONS names the
# versions of Python whose locks are written, instead of all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../requirements"

UV="${UV:-uv}"
command -v "${UV}" >/dev/null || {
  echo "lock: uv is missing; install it (pip install uv) or set UV." >&2
  exit 1
}

tmp="$(mktemp -d)"
trap 'rm -rf "${tmp}"' EXIT

compile() {  # Python's version, output, then inputs and options
  local version="$1" output="$2"
  shift 2
  "${UV}" pip compile --quiet --no-annotate --generate-hashes \
    --python-version "${version}" --only-binary :all: \
    --no-emit-build-options --custom-compile-command "make lock" \
    --output-file "${output}" "$@"
}

# Prints the option that keeps what files of locks have pinned.
keep() {  # files
  local pins="${tmp}/pins.txt"
  : > "${pins}"
  if [[ -z "${UPGRADE:-}" ]]; then
    { cat "$@" 2>/dev/null || true; } | { grep -v -e --hash || true; } |
      tr -d '\\' | sort -u > "${pins}"
  fi
  echo "--constraint=${pins}"
}

lock() {  # Python's version, name, then options
  compile "$1" "${tmp}/lock.txt" "$2.in" "${@:3}"
  mv "${tmp}/lock.txt" "$1/$2.txt"
}

for version in ${PYTHONS:-$(ls -d 3.*)}; do
  all="${tmp}/${version}.txt"
  compile "${version}" "${all}" --override=overrides.txt \
    "$(keep "${version}"/{dev,jax,tf}.txt)" {dev,jax,tf}.in
  for name in dev jax tf; do
    lock "${version}" "${name}" --override=overrides.txt "--constraint=${all}"
  done
  for name in {oldest,newest}-{jax,tf} lifelines msprime mutants pymc peers-{incumbent,phasegen} wheels; do
    # Its one release that benchmarks compare with has no wheel for later Pythons.
    if [[ "${name} ${version}" == "peers-incumbent 3.14" ]]; then continue; fi
    override=()
    case "${name}" in
      peers-incumbent) override=(--override=peers-overrides.txt) ;;
      mutants) override=(--override=mutants-overrides.txt) ;;
    esac
    lock "${version}" "${name}" "${override[@]}" "$(keep "${version}/${name}.txt")"
  done
  # Resolutions for a processor each.
  for name in shipped-{x86_64,aarch64}; do
    compile "${version}" "${tmp}/lock.txt" shipped.in \
      "--python-platform=${name#shipped-}-manylinux_2_28" \
      "$(keep "${version}/${name}.txt")"
    mv "${tmp}/lock.txt" "${version}/${name}.txt"
  done
  lock "${version}" docs --override=overrides.txt "--constraint=${all}" \
    "$(keep "${version}/docs.txt")"
  echo "lock: Python ${version} done" >&2
done
compile 3.11 "${tmp}/lock.txt" --no-deps jax-headers.in
mv "${tmp}/lock.txt" jax-headers.txt
