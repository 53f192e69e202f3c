# To be sourced in the root of a clone, after tools/environments.sh: what
# tools/wheel/zig_cxx.sh needs, which compiles the wheels of a release.

readonly GLIBC=2.28

use_zig() {
  use_own_venv wheels
  PATH="${PWD}/.venv/bin:${PATH}"  # CMake
  export PHASIC_ZIG_PYTHON="${venv}/bin/python"
  export ZIG_GLOBAL_CACHE_DIR="${PHASIC_CACHE}/zig" ZIG_LOCAL_CACHE_DIR="${PHASIC_CACHE}/zig"
}

set_target() {  # processor
  export PHASIC_TARGET="$1-linux-gnu.${GLIBC}"
}
