#!/usr/bin/env bash
# Runs the suites of tests/versions on the wheel, with the oldest and the newest
# JAX, TensorFlow and NumPy that are supported, on each Python that is found:
#
#   tools/test_versions.sh           all Pythons
#   tools/test_versions.sh own       this clone's alone
#
# PYTHONS may name further interpreters. Environments are made once, in the cache
# that all clones share, from requirements/*/{oldest,newest}-{jax,tf}.txt. Prints
# a table, and closes with `N passed, N failed, N skipped`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh
source tools/environments.sh

readonly WORK="${PWD}/.build/versions"
readonly TIMEOUT=600  # seconds for a suite

own="$(.venv/bin/python -c 'import sys; print(sys._base_executable)')"
own_version="$(python_version "${own}")"
versions="$(supported_pythons)"
if [[ "${1:-}" == own ]]; then versions="${own_version}"; fi

rm -rf "${WORK}"
mkdir -p "${WORK}"
results="${WORK}/results.jsonl"
: > "${results}"

run() {  # Python's version, python, column, framework, the folder of the wheel
  local name="Python $1, $3, $4" log="${WORK}/$1-$3-$4.log" suites="numpy $4"
  local begin="${SECONDS}"
  lock_environments
  use_venv "$2" "$3-$4"
  unlock_environments
  # pip looks at the wheel's tag and at its Python.
  if [[ ! -e "$5/phasic" ]]; then
    "${venv}/bin/python" -m pip install --disable-pip-version-check --quiet \
      --no-deps --no-index --target "$5" "$5"/*.whl
  fi
  # shellcheck disable=SC2086  # suites are words
  PYTHONPATH="$5" timeout "${TIMEOUT}" "${venv}/bin/python" -B \
    tests/versions/run_suites.py ${suites} > "${log}" 2>&1 || true
  echo "{\"python\": \"$1\", \"column\": \"$3\", \"framework\": \"$4\"," \
    "\"log\": \"${log}\", \"result\": $(tail -n 1 "${log}" | grep '^{' ||
      echo null)}" >> "${results}"
  say "${name}: $(((SECONDS - begin))) s"
}

for version in ${versions}; do
  if [[ "${version}" == "${own_version}" ]]; then
    python="${own}"
  else
    python="$(find_any_python "${version}")"
  fi
  if [[ -z "${python}" ]]; then
    say "no Python ${version} found: its rows are left out (see PYTHONS)"
    continue
  fi
  tools/build_wheel.sh "${python}" "${WORK}/${version}" >&2
  for column in oldest newest; do
    for framework in jax tf; do
      run "${version}" "${python}" "${column}" "${framework}" "${WORK}/${version}"
    done
  done
done
.venv/bin/python tools/versions_table.py "${results}"
