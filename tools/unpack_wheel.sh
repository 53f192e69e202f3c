#!/usr/bin/env bash
# Builds the wheel and unpacks it into .build/installed, where it imports as if
# installed. Prints the directory.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="${PWD}/.build/installed"
bazel build --ui_event_filters=-info --noshow_progress //tools/wheel:wheel >&2
wheel="$(ls .bazel/bin/tools/wheel/wheel/*.whl)"
digest="$(sha256sum "${wheel}" | cut -d' ' -f1)"
if [[ "$(cat "${target}/.digest" 2>/dev/null)" != "${digest}" ]]; then
  rm -rf "${target}"
  mkdir -p "${target}"
  .venv/bin/python -m zipfile -e "${wheel}" "${target}"
  echo "${digest}" > "${target}/.digest"
fi
echo "${target}"
