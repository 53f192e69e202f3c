#!/usr/bin/env bash
# Runs the suites of tests/versions on the wheel, with the oldest and the newest
# JAX, TensorFlow and NumPy that are supported, on each Python that is found:
#
#   tools/test_versions.sh           all Pythons
#   tools/test_versions.sh own       this clone's alone
#   tools/test_versions.sh sdist     all; wheels are built from the sdist
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
source tools/suites.sh

own="$(base_python .venv/bin/python)"
own_version="$(python_version "${own}")"
versions="$(supported_pythons)"
build=tools/build_wheel.sh
case "${1:-}" in
  own) versions="${own_version}" ;;
  sdist) build=tools/build_from_sdist.sh ;;
esac

run() {  # Python's version, python, column, framework, the folder of the wheel
  lock_environments
  use_venv "$2" "$3-$4"
  # pip looks at the wheel's tag and at its Python.
  if [[ ! -e "$5/phasic" ]]; then
    "${venv}/bin/python" -m pip install --disable-pip-version-check --quiet \
      --no-deps --no-index --target "$5" "$5"/*.whl
  fi
  unlock_environments
  PYTHONPATH="$5" run_suite "$1" "$3" "$4" "${venv}/bin/python" -B \
    tests/versions/run_suites.py numpy "$4"
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
  begin="${SECONDS}"
  "${build}" "${python}" "${WORK}/${version}" >&2
  say "Python ${version}, the wheel: $((SECONDS - begin)) s"
  for column in oldest newest; do
    # Two at a time: one is made while the other runs. An environment that
    # cannot be made is a failure, too.
    for framework in jax tf; do
      (run "${version}" "${python}" "${column}" "${framework}" \
        "${WORK}/${version}") ||
        record "${version}" "${column}" "${framework}: no environment" null &
    done
    wait
  done
done
.venv/bin/python tools/versions_table.py "${RESULTS}"
