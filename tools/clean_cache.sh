#!/usr/bin/env bash
# Empties the caches that all clones share. A clone's `.venv` is a dangling link
# afterwards, until its next setup.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh

# Waits for a setup or a pruning that is under way in any clone.
if command -v flock >/dev/null; then
  exec 8>>"${PHASIC_CACHE}/prune.lock" 9>>"${PHASIC_CACHE}/setup.lock"
  flock 8
  flock 9
fi
find "${PHASIC_CACHE}"/{venv,headers,bazel,jax,mypy,site,tidy} -mindepth 1 -maxdepth 1 -exec rm -rf {} +
