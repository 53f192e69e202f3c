#!/usr/bin/env bash
# Checks format and style of the sources, and the generated code for errors.
# Generated code keeps its source's lines, so its layout is the source's.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh

failed=()
run() {
  local name="$1"
  shift
  echo "lint: ${name}" >&2
  "$@" || failed+=("${name}")
}

run "ruff format" .venv/bin/ruff format --check --quiet .
run "ruff" .venv/bin/ruff check --quiet .
run "rooms" .venv/bin/python -m tools.rooms.check
run "spine" .venv/bin/python -m tools.spine
run "spelling" .venv/bin/codespell
run "clang-format" bash -c "find benchmarks examples native phasic tests \
  -name '*.h' -o -name '*.cc' -o -name '*.cu' |
  xargs -r .venv/bin/clang-format --dry-run -Werror"
run "clang-tidy" env PYTHONPATH=. .venv/bin/python tools/tidy.py \
  "${PHASIC_CACHE}/tidy"
generated="$(tools/unpack_wheel.sh)" || failed+=("the wheel")
if [[ -n "${generated}" ]]; then
  run "ruff on generated code" .venv/bin/ruff check --quiet --isolated \
    --no-cache --target-version py311 --select E4,E7,E9,F,W "${generated}"
fi

if ((${#failed[@]})); then
  echo "lint: failed: ${failed[*]}" >&2
  exit 1
fi
echo "lint: ok" >&2
