#!/usr/bin/env bash
# Runs the tests, all of them or the Bazel targets given, and closes with a
# line `N passed, N failed, N skipped`. Tests tagged "skip" are left out.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

events="$(mktemp)"
trap 'rm -f "${events}"' EXIT

if [[ $# == 0 ]]; then set -- //...; fi
bazel test --keep_going --test_tag_filters=-skip \
  --build_event_json_file="${events}" "$@"
status=$?
.venv/bin/python tools/test_summary.py "${events}" --bazel_status="${status}"
