#!/usr/bin/env bash
# Builds the wheels of a release into dist/: from the sdist, by CMake, with zig's
# clang, which brings the headers of every glibc and compiles for other processors.
# Each processor's objects are compiled once, and its Python module for each Python
# of which headers are found: those of Pythons as tools/environments.sh finds them,
# and the folders that PYTHON_HEADERS names. JOBS=2 limits how many compilers run at
# once. Beside them, the wheel without native code, for any system. See
# docs/decisions/0071-release-wheels.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh
source tools/environments.sh
source tools/wheel/zig.sh

readonly ARCHITECTURES="${ARCHITECTURES:-x86_64 aarch64}"
readonly WORK="${PWD}/.build/wheels"
readonly TOOLS="${PWD}/tools/wheel"
readonly PYTHON="${PWD}/.venv/bin/python"
output="$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)"

# Prints the version of the Python that headers belong to, e.g. 3.13.
version_of_headers() {  # folder
  sed -n 's/^#define PY_VERSION  *"\([0-9]*\.[0-9]*\).*/\1/p' "$1/patchlevel.h"
}

# Copies headers of a Python into a folder of their own. Debian keeps pyconfig.h in a
# folder for each processor. The modules need none of the few lines that differ in
# that of aarch64.
copy_headers() {  # version, folder
  local folder candidate config
  folder=""
  for candidate in ${PYTHON_HEADERS:-}; do
    if [[ "$(version_of_headers "${candidate}")" == "$1" ]]; then
      folder="${candidate}"
    fi
  done
  if [[ -z "${folder}" ]]; then
    candidate="$(find_any_python "$1")"
    if [[ -z "${candidate}" ]]; then return; fi
    folder="$(python_headers "${candidate}")"
  fi
  cp -rL "${folder}" "$2"
  config="$(sed -n 's/^# *include <\(x86_64-linux-gnu\/.*\)>.*/\1/p' "$2/pyconfig.h")"
  if [[ -n "${config}" ]]; then
    cp "$(dirname "${folder}")/${config}" "$2/pyconfig.h"
  fi
}

# Writes the wheel of a processor and a version of Python.
build() {  # processor, version
  local build="${WORK}/$1" stage="${WORK}/$1/stage" manifest="${WORK}/$1/manifest"
  cmake -S "${WORK}/source" -B "${build}" -G Ninja --log-level=WARNING \
    "-DCMAKE_MAKE_PROGRAM=${venv}/bin/ninja" \
    -DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=$1" \
    "-DCMAKE_CXX_COMPILER=${TOOLS}/zig_cxx.sh" \
    "-DCMAKE_CXX_FLAGS=-O3 -mllvm -inline-threshold=1000" \
    "-DCMAKE_CXX_STANDARD_LIBRARIES=${build}/libgcc_s.so.1" \
    "-DCMAKE_MODULE_LINKER_FLAGS=-Wl,-s -Wl,--version-script=${TOOLS}/exports.map" \
    "-DPython_EXECUTABLE=${PYTHON}" "-DPYTHON_HEADERS=${WORK}/headers/$2" >&2
  cmake --build "${build}" ${JOBS:+"--parallel=${JOBS}"} >&2
  rm -rf "${stage}"
  cmake --install "${build}" --prefix "${stage}" >/dev/null
  find "${stage}" -type f -printf "%P=%p\n" | sort > "${manifest}"
  (
    cd "${WORK}/source"
    PYTHONPATH="${TOOLS}/../.." "${PYTHON}" -B -m tools.wheel.build \
      --manifest "${manifest}" --pyproject pyproject.toml \
      --readme docs/pypi.md --output_dir "${output}" \
      --target "cp${2/./}-manylinux_${GLIBC/./_}_$1" \
      $(printf -- '--license %s ' LICENSE NOTICE third_party/licenses/*)
  )
}

use_zig

rm -rf "${WORK}"
mkdir -p "${WORK}"/{source,headers}
sdist="$(tools/sdist.sh "${WORK}")"
# Times of today: those of the archive are older than all that is compiled.
tar -xzmf "${sdist}" --strip-components=1 -C "${WORK}/source"

versions="$(supported_pythons)"
for folder in ${PYTHON_HEADERS:-}; do
  versions+=" $(version_of_headers "${folder}")"
done
versions="$(printf '%s\n' ${versions} | sort -Vu)"
for version in ${versions}; do
  copy_headers "${version}" "${WORK}/headers/${version}"
done
for architecture in ${ARCHITECTURES}; do
  set_target "${architecture}"
  mkdir "${WORK}/${architecture}"
  "${TOOLS}/zig_cxx.sh" -shared -nostdlib -Wl,-soname,libgcc_s.so.1 \
    "-Wl,--version-script=${TOOLS}/unwinder.map" "${TOOLS}/unwinder.cc" \
    -o "${WORK}/${architecture}/libgcc_s.so.1"
  for version in ${versions}; do
    if [[ -e "${WORK}/headers/${version}" ]]; then
      build "${architecture}" "${version}"
    else
      say "no headers of Python ${version}: no wheel for it (PYTHONS names" \
        "further Pythons, PYTHON_HEADERS folders of headers)"
    fi
  done
done
tools/build_any_wheel.sh "${output}"
