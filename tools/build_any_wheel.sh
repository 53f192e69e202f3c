#!/usr/bin/env bash
# Builds the wheel without native code, for any system, and copies it into a
# folder: FOLDER. Prints the wheel's path. It compiles nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bazel build --ui_event_filters=-info --noshow_progress \
  //tools/wheel:any_wheel >&2
wheel="$(ls .bazel/bin/tools/wheel/any_wheel/*.whl)"
mkdir -p "$1"
install -m 644 "${wheel}" "$1/"
echo "$1/$(basename "${wheel}")"
