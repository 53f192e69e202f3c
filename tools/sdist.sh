#!/usr/bin/env bash
# Builds the sdist, which builds without Bazel, and copies it into a folder. Prints
# its path.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bazel build --ui_event_filters=-info --noshow_progress //tools/wheel:sdist >&2
sdist="$(ls .bazel/bin/tools/wheel/sdist/*.tar.gz)"
mkdir -p "$1"
install -m 644 "${sdist}" "$1/"
echo "$1/$(basename "${sdist}")"
