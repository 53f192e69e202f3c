#!/usr/bin/env bash
# Runs the tests, all of them or the Bazel targets given, and closes with a
# line `N passed, N failed, N skipped`. Tests tagged "skip" are left out, and
# those tagged "slow" unless "slow" is the first argument: then they alone run,
# or "all": then they run too.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh

events="$(mktemp)"
trap 'rm -f "${events}"' EXIT

filters=-skip,-slow
if [[ "${1:-}" == slow ]]; then
  filters=-skip,slow
  shift
elif [[ "${1:-}" == all ]]; then
  filters=-skip
  shift
fi
if [[ $# == 0 ]]; then set -- //...; fi

bazel test --keep_going --test_tag_filters="${filters}" \
  --build_event_json_file="${events}" "$@"
status=$?
.venv/bin/python tools/prune_caches.py "${PHASIC_CACHE}"
.venv/bin/python tools/test_summary.py "${events}" --bazel_status="${status}"
