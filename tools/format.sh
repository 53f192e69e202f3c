#!/usr/bin/env bash
# Formats Python and C++ in place, and writes the tables that follow from imports.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

.venv/bin/ruff check --quiet --fix . || true
.venv/bin/ruff format --quiet .
find benchmarks examples native phasic tests -name '*.h' -o -name '*.cc' -o -name '*.cu' |
  xargs -r .venv/bin/clang-format -i
# Last, since it fails where an import is wrong.
.venv/bin/python -m tools.rooms.check --write
