#!/usr/bin/env bash
# zig's clang for PHASIC_TARGET, e.g. aarch64-linux-gnu.2.28, as a compiler that CMake
# can call: zig spells x86-64's levels with underscores, and knows no --exclude-libs,
# in whose place the wheels are linked with a list of what they export.
set -euo pipefail

arguments=()
for argument in "$@"; do
  case "${argument}" in
    -march=x86-64-*) arguments+=("-march=x86_64_${argument#-march=x86-64-}") ;;
    -Wl,--exclude-libs,*) ;;
    *) arguments+=("${argument}") ;;
  esac
done
exec "${PHASIC_ZIG_PYTHON}" -m ziglang c++ -target "${PHASIC_TARGET}" "${arguments[@]}"
