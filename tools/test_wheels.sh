#!/usr/bin/env bash
# Tests the wheels of dist/ as they are shipped: tools/test_wheels.sh [WHEEL...].
#
# Of each wheel: which one pip takes for its Python and processor, the versions of
# glibc's symbols, the suites of tests/versions with the newest JAX and TensorFlow,
# a sample of tests/accuracy, and the demo; and the native tests of the objects that
# they consist of. What is for aarch64 runs under emulation. A Python that is not here
# comes from a root of tools/roots.sh. The wheel for any system has a suite of its own
# (tests/wheel/any_suite.py). Environments are made once, in the cache that all clones
# share. Prints a table, and closes with `N passed, N failed, N skipped`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh
source tools/environments.sh
source tools/roots.sh
source tools/wheel/zig.sh

readonly WORK="${PWD}/.build/test_wheels"
readonly TIMEOUT=3600  # seconds for a suite; emulation is about ten times slower
source tools/suites.sh
# For each processor: Debian's name of it, and which suite has which Python.
declare -rA ARCHITECTURE=([x86_64]=amd64 [aarch64]=arm64)
declare -rA SUITE=([3.11]=bookworm [3.13]=trixie [3.14]=forky)

skip() {  # Python's version, processor, reason
  .venv/bin/python - "$@" >> "${RESULTS}" <<'END'
import json
import sys

python, column, reason = sys.argv[1:]
result = {"versions": {}, "skipped": 1, "skips": [f"{column}, {python}: {reason}"]}
print(json.dumps({"python": python, "column": column, "log": "", "result": result}))
END
}

# Runs a Python program with the wheel, in `prefix` (a root's, or empty).
run() {  # Python's version, processor, name of the suite, path, program and arguments
  PYTHONPATH="$4" PYTHONDONTWRITEBYTECODE=1 JAX_PLATFORMS=cpu \
    run_suite "$1" "$2" "$3" "${prefix[@]}" "${@:5}"
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

# Runs the native tests on the objects that the wheels of a processor consist of.
test_objects() {  # processor
  local build="${PWD}/.build/wheels/$1" program
  if [[ ! -e "${build}" ]]; then
    skip all "$1" "no native tests: make wheels has not been run here"
    return
  fi
  prefix=()
  if [[ "$1" != "$(uname -m)" ]]; then
    lock_environments
    use_root "${ARCHITECTURE[$1]}" bookworm 3.11 || root=""
    unlock_environments
    if [[ -z "${root}" ]]; then
      skip all "$1" "no native tests: ${reason}"
      return
    fi
    prefix=(tools/enter_root.sh "${root}")
  fi
  use_zig
  set_target "$1"
  cmake -S .build/wheels/source -B "${build}" --log-level=WARNING \
    "-DCMAKE_PROJECT_phasic_INCLUDE=${PWD}/tools/wheel/native_tests.cmake" \
    "-DPHASIC_TESTS=${PWD}" -DGOOGLETEST=/usr/src/googletest >&2
  cmake --build "${build}" ${JOBS:+"--parallel=${JOBS}"} \
    --target native_tests counted_work_test >&2
  for program in native_tests counted_work_test; do
    run_suite all "$1" "${program}" .venv/bin/python -m tools.wheel.native_tests \
      "${prefix[@]}" "${build}/${program}"
  done
}

test_any_wheel() {  # wheel
  .venv/bin/python -B substrates/meta/generate_tree.py \
    --outputs_root "${WORK}/tree" >&2
  prefix=()
  run all any suite "" .venv/bin/python -m tests.wheel.any_suite "$1" "${WORK}/tree"
}

if [[ "$#" == 0 ]]; then
  shopt -s nullglob
  set -- dist/*.whl
  [[ "$#" != 0 ]] || die "no wheels in dist/; make them: make wheels"
fi
for wheel in "$@"; do
  case "${wheel}" in
    *-none-any.whl) test_any_wheel "${wheel}" ;;
    *) test_wheel "${wheel}" ;;
  esac
done
for processor in "${!ARCHITECTURE[@]}"; do
  if [[ "$*" == *"${processor}"* ]]; then test_objects "${processor}"; fi
done
.venv/bin/python tools/versions_table.py "${RESULTS}"
