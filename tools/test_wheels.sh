#!/usr/bin/env bash
# Tests the wheels of dist/ as they are shipped: tools/test_wheels.sh [WHEEL...].
#
# Of each wheel: which one pip takes for its Python and processor, the versions of
# glibc's symbols, the suites of tests/versions with the newest JAX and TensorFlow,
# a sample of tests/accuracy, and the demo. A wheel for aarch64 runs under emulation; a Python that is not here
# comes from a root of tools/roots.sh. Environments are made once, in the cache that
# all clones share. Prints a table, and closes with `N passed, N failed, N skipped`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh
source tools/environments.sh
source tools/roots.sh

readonly WORK="${PWD}/.build/test_wheels"
readonly TIMEOUT=1800  # seconds for a suite; emulation is about ten times slower
# For each processor: Debian's name of it, and which suite has which Python.
declare -rA ARCHITECTURE=([x86_64]=amd64 [aarch64]=arm64)
declare -rA SUITE=([3.11]=bookworm [3.13]=trixie [3.14]=forky)

rm -rf "${WORK}"
mkdir -p "${WORK}"
results="${WORK}/results.jsonl"
: > "${results}"

record() {  # Python's version, column, log, result
  echo "{\"python\": \"$1\", \"column\": \"$2\", \"log\": \"$3\"," \
    "\"result\": $4}" >> "${results}"
}

skip() {  # Python's version, processor, reason
  .venv/bin/python - "$@" >> "${results}" <<'END'
import json
import sys

python, column, reason = sys.argv[1:]
result = {"versions": {}, "skipped": 1, "skips": [f"{column}, {python}: {reason}"]}
print(json.dumps({"python": python, "column": column, "log": "", "result": result}))
END
}

# Runs a Python program with the wheel, in `prefix` (a root's, or empty), and records
# the JSON object that is its last line.
run() {  # Python's version, processor, name of the log, path, program and arguments
  local log="${WORK}/$1-$2-$3.log" begin="${SECONDS}" result
  PYTHONPATH="$4" PYTHONDONTWRITEBYTECODE=1 JAX_PLATFORMS=cpu \
    timeout "${TIMEOUT}" "${prefix[@]}" "${@:5}" > "${log}" 2>&1 || true
  result="$(tail -n 1 "${log}" | grep '^{' || echo null)"
  record "$1" "$2" "${log}" "${result}"
  say "Python $1, $2, $3: $((SECONDS - begin)) s"
}

test_wheel() {  # wheel
  local wheel version processor python installed suite suites
  wheel="$1"
  version="$(basename "${wheel}" | sed -E 's/.*-cp3([0-9]+)-cp3.*/3.\1/')"
  processor="$(basename "${wheel}" .whl | sed -E 's/.*(x86_64|aarch64)$/\1/')"
  prefix=()
  run "${version}" "${processor}" shipped "" .venv/bin/python -m tools.wheel.shipped \
    "${wheel}"

  python="$(find_any_python "${version}")"
  if [[ "${processor}" != "$(uname -m)" || -z "${python}" ]]; then
    if [[ -z "${SUITE[${version}]:-}" ]]; then
      skip "${version}" "${processor}" "no Debian has this Python"
      return
    fi
    lock_environments
    use_root "${ARCHITECTURE[${processor}]}" "${SUITE[${version}]}" "${version}" ||
      root=""
    unlock_environments
    if [[ -z "${root}" ]]; then
      skip "${version}" "${processor}" "${reason}"
      return
    fi
    prefix=(tools/enter_root.sh "${root}")
    python="/usr/bin/python${version}"
  fi
  installed="${WORK}/${version}-${processor}"
  .venv/bin/python -m zipfile --extract "${wheel}" "${installed}"
  # Beside the wheel, so that its phasic is tested, and not that of the sources.
  ln -s "${PWD}/tests" "${installed}/tests"
  lock_environments
  use_site "${version}" "${processor}" "requirements/${version}/shipped-${processor}.txt" ||
    site=""
  unlock_environments
  if [[ -z "${site}" ]]; then
    record "${version}" "${processor}" "${reason}" null
    return
  fi
  suites=(numpy jax tf tests.accuracy.value_accuracy_test)
  # Its many fits take too long under emulation.
  if [[ "${processor}" == "$(uname -m)" ]]; then suites+=(demo); fi
  for suite in "${suites[@]}"; do
    run "${version}" "${processor}" "${suite}" "${installed}:${site}" \
      "${python}" -B tests/versions/run_suites.py "${suite}"
  done
}

if [[ "$#" == 0 ]]; then
  shopt -s nullglob
  set -- dist/*-manylinux*.whl
  [[ "$#" != 0 ]] || die "no wheels in dist/; make them: make wheels"
fi
for wheel in "$@"; do
  test_wheel "${wheel}"
done
.venv/bin/python tools/versions_table.py "${results}"
