#!/usr/bin/env bash
# Prepares a checkout: .venv with the pinned packages, the Debian packages that
# the build needs, and .bazelrc.local. Safe and quick to run again.
#
# .venv is a link to a virtual environment that all clones with the same lock,
# substrates and interpreter share; tools/cache_dir.sh says where it lies.
#
#   PYTHON             the Python 3.11 to use (default: python3.11, then python3)
#   PHASIC_SUBSTRATES  which of "jax tf" to install beside NumPy; default: what
#                      this clone had last, both at first. "" gives NumPy alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source tools/cache_dir.sh

readonly SUPPORTED_PYTHON="3.11"
readonly CHOICE=.phasic-substrates
readonly UNUSED_DAYS=30  # until an environment is removed

say() { echo "setup: $*" >&2; }
die() {
  say "error: $*"
  exit 1
}

# One setup at a time, of all clones: two would write the same environment.
if command -v flock >/dev/null; then
  exec 9>>"${PHASIC_CACHE}/setup.lock"
  flock 9
fi

python_version() {
  "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null ||
    echo "unknown version"
}

# The first that is a supported Python, else the first there is.
find_python() {
  local name first=""
  for name in "${PYTHON:-}" python3.11 python3; do
    if [[ -z "${name}" ]] || ! command -v "${name}" >/dev/null; then continue; fi
    if [[ "$(python_version "${name}")" == "${SUPPORTED_PYTHON}" ]]; then
      command -v "${name}"
      return
    fi
    first="${first:-$(command -v "${name}")}"
  done
  [[ -n "${first}" ]] ||
    die "no Python; install Python ${SUPPORTED_PYTHON}, or set PYTHON."
  echo "${first}"
}

apt_install() {  # what for, then packages
  local purpose="$1"
  shift
  command -v apt-get >/dev/null ||
    die "no ${purpose}, and no apt-get to install it with; install $*."
  local sudo=()
  if [[ "$(id -u)" != 0 ]]; then
    command -v sudo >/dev/null ||
      die "no ${purpose}; as root, run: apt-get install $*"
    sudo=(sudo)
  fi
  say "installing $* with apt-get (for the ${purpose})"
  local log
  log="$(mktemp)"
  if ! {
    "${sudo[@]}" apt-get update &&
      "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "$@"
  } >"${log}" 2>&1; then
    tail -n 20 "${log}" >&2
    rm -f "${log}"
    die "apt-get could not install $*; install ${purpose} yourself."
  fi
  rm -f "${log}"
}

check_compiler() {
  command -v g++ >/dev/null || command -v clang++ >/dev/null ||
    command -v "${CXX:-c++}" >/dev/null ||
    die "no C++ compiler; install one, e.g.: apt-get install g++"
}

check_bazel() {
  if ! command -v bazel >/dev/null; then
    apt_install "build tool Bazel" bazel-bootstrap
  fi
  command -v bazel >/dev/null ||
    die "no Bazel; install bazel-bootstrap (Debian) or Bazel 4.x to 7.x."
  # Debian's build calls itself "no_version".
  local version
  version="$(bazel --version 2>/dev/null)" || version="unknown version"
  case "${version}" in
    *no_version* | "bazel "[4-7].*) ;;
    *) die "${version} is not supported; install Bazel 4.x to 7.x" \
      "(bazelisk: set USE_BAZEL_VERSION=7.x)." ;;
  esac
}

check_headers() {
  if [[ ! -e /usr/include/gtest/gtest.h ]]; then
    apt_install "C++ tests' GoogleTest" libgtest-dev
  fi
  if [[ ! -e /usr/include/eigen3/Eigen/OrderingMethods ]]; then
    apt_install "Eigen's headers" libeigen3-dev
  fi
  local include
  include="$("$1" -c \
    'import sysconfig; print(sysconfig.get_paths()["include"])')"
  if [[ ! -e "${include}/Python.h" ]]; then
    apt_install "Python headers" "python${SUPPORTED_PYTHON}-dev"
  fi
  [[ -e "${include}/Python.h" ]] ||
    die "no Python.h in ${include}; install the headers of that Python."
}

# A virtual environment cannot be moved, so it is made in place. Its stamp is
# written last: without one it is what an interrupted setup left.
make_venv() {  # folder, python, names of locks
  local venv="$1" python="$2" name args=()
  shift 2
  if ! "${python}" -c 'import ensurepip, venv' 2>/dev/null; then
    apt_install "Python module venv" "python${SUPPORTED_PYTHON}-venv"
    "${python}" -c 'import ensurepip, venv' 2>/dev/null ||
      die "${python} has no venv module; install python3-venv."
  fi
  say "making ${venv} with the pinned packages (up to 2.7 GB; a minute or two)"
  rm -rf "${venv}"
  "${python}" -m venv "${venv}"
  for name in "$@"; do
    args+=(-r "requirements-${name}.txt")
  done
  # The lock is complete, and leaves out what tools/lock_overrides.txt names.
  "${venv}/bin/python" -m pip install --disable-pip-version-check -qq \
    --require-hashes --no-deps --only-binary=:all: "${args[@]}" || {
    rm -rf "${venv}"
    die "pip could not install the pinned packages; see the lines above."
  }
  touch "${venv}/.phasic-stamp"
}

# Removes environments that no setup used for long, and unfinished ones.
prune_venvs() {
  local venv
  for venv in "${PHASIC_CACHE}"/venv/*; do
    if [[ -z "$(find "${venv}/.phasic-stamp" -mtime "-${UNUSED_DAYS}" \
      2>/dev/null)" ]]; then
      rm -rf "${venv}"
    fi
  done
}

# Prints the folder of the environment of a Python and some locks.
venv_folder() {  # python, names of locks
  local python="$1" name key
  shift
  key="$(
    "${python}" -c 'import os, sys
print(sys.version, os.path.realpath(sys.executable))'
    for name in "$@"; do
      echo "${name}"
      cat "requirements-${name}.txt"
    done
  )"
  key="$(echo "${key}" | sha256sum | cut -c1-16)"
  echo "${PHASIC_CACHE}/venv/${key}"
}

main() {
  check_compiler
  local python version
  python="$(find_python)"
  version="$(python_version "${python}")"
  [[ "${version}" == "${SUPPORTED_PYTHON}" ]] ||
    die "${python} is Python ${version}; only ${SUPPORTED_PYTHON} is" \
      "supported. Install it, or set PYTHON."

  local substrates="jax tf" name locks=(dev)
  if [[ -e "${CHOICE}" ]]; then substrates="$(cat "${CHOICE}")"; fi
  substrates="${PHASIC_SUBSTRATES-${substrates}}"
  for name in ${substrates}; do
    [[ "${name}" == jax || "${name}" == tf ]] ||
      die "PHASIC_SUBSTRATES has '${name}'; it may name jax and tf."
  done
  for name in jax tf; do
    if [[ " ${substrates} " == *" ${name} "* ]]; then locks+=("${name}"); fi
  done

  check_bazel
  check_headers "${python}"

  local venv
  venv="$(venv_folder "${python}" "${locks[@]}")"
  if [[ ! -e "${venv}/.phasic-stamp" ]]; then
    make_venv "${venv}" "${python}" "${locks[@]}"
  fi
  touch "${venv}/.phasic-stamp"
  prune_venvs
  if [[ "$(readlink .venv)" != "${venv}" ]]; then
    rm -rf .venv
    ln -s "${venv}" .venv
  fi
  echo "${substrates}" > "${CHOICE}"

  # The first stamp makes Bazel look again when a package was changed by hand.
  # Tests have the second one beside C++ code, as they run with glibc.
  local packages toolchain lines
  packages="$("${venv}/bin/python" tools/freeze.py | sha256sum | cut -c1-16)"
  toolchain="$("${venv}/bin/python" tools/toolchain.py | sha256sum | cut -c1-16)"
  lines="common --repo_env=PHASIC_PYTHON=${venv}/bin/python
common --repo_env=PHASIC_ENV_STAMP=${packages}
build --disk_cache=${PHASIC_CACHE}/bazel
build --action_env=PHASIC_TOOLCHAIN=${toolchain}
build --test_env=PHASIC_TOOLCHAIN=${toolchain}
build --test_env=JAX_COMPILATION_CACHE_DIR=${PHASIC_CACHE}/jax
build --sandbox_writable_path=${PHASIC_CACHE}/jax"
  if [[ "$(cat .bazelrc.local 2>/dev/null)" != "${lines}" ]]; then
    echo "${lines}" > .bazelrc.local
  fi
}

main
