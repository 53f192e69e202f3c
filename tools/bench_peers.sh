#!/usr/bin/env bash
# Compares speed with libraries that users would take instead of phasic. Each
# has an environment of its own, from requirements/*/peers-*.txt, which is made
# once, in the cache that all clones share. Options go to the benchmark, e.g.:
#
#   tools/bench_peers.sh --page      writes docs/benchmarks_peers.md
#   tools/bench_peers.sh --only=TFP  compares only with peers of such names
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh
source tools/environments.sh

options=()
for peer in incumbent phasegen; do
  use_own_venv "peers-${peer}"
  options+=("--${peer}=${venv}/bin/python")
done
bazel run --ui_event_filters=-info --noshow_progress //benchmarks/peers:run -- \
  "${options[@]}" "$@"
