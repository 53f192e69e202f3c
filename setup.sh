#!/usr/bin/env bash
# Prepares a checkout: .venv with the pinned packages, the Debian packages that
# the build needs, and .bazelrc.local. Safe and quick to run again.
#
# .venv is a link to a virtual environment that all clones with the same lock,
# substrates and interpreter share; tools/cache_dir.sh says where it lies.
#
#   PYTHON             the Python to use; default: what this clone had last, at
#                      first the newest on the path that runs and that
#                      requirements/ has locks for
#   PHASIC_SUBSTRATES  which of "jax tf" to install beside NumPy; default: what
#                      this clone had last, both at first. "" gives NumPy alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source tools/cache_dir.sh
source tools/environments.sh

readonly CHOICE=.phasic-substrates

lock_environments

# Sets `python` to PYTHON, to that of .venv, or to the newest that is there.
choose_python() {
  local supported version
  supported="$(supported_pythons | sort -V | tr '\n' ' ')"
  if [[ -n "${PYTHON:-}" ]]; then
    version="$(python_version "${PYTHON}")"
    [[ " ${supported}" == *" ${version:-none} "* ]] ||
      die "PYTHON is ${PYTHON}, which is ${version:-no Python that runs}: it" \
        "must be one of ${supported}; set another."
    python="$(command -v "${PYTHON}")"
    return
  fi
  version="$(python_version .venv/bin/python)"
  if [[ " ${supported}" == *" ${version:-none} "* ]]; then
    python="$(base_python .venv/bin/python)"
    if [[ "$(python_version "${python}")" == "${version}" ]]; then return; fi
  fi
  for version in $(supported_pythons); do
    python="$(find_python "${version}")"
    if [[ -n "${python}" ]]; then return; fi
  done
  die "no Python on the path that runs, has its headers and is one of" \
    "${supported}; install one, or set PYTHON."
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

check_libraries() {
  if [[ ! -e /usr/include/gtest/gtest.h ]]; then
    apt_install "C++ tests' GoogleTest" libgtest-dev
  fi
  if [[ ! -e /usr/include/eigen3/Eigen/OrderingMethods ]]; then
    apt_install "Eigen's headers" libeigen3-dev
  fi
}

# Writes .bazelrc.local. The first stamp makes Bazel look again when a package
# was changed by hand. Tests have the second one beside C++ code, as they run
# with glibc.
write_bazelrc() {  # environment, headers of JAX
  local packages toolchain lines
  packages="$("$1/bin/python" tools/freeze.py | sha256sum | cut -c1-16)"
  toolchain="$("$1/bin/python" tools/toolchain.py | sha256sum | cut -c1-16)"
  lines="common --repo_env=PHASIC_PYTHON=$1/bin/python
common --repo_env=PHASIC_ENV_STAMP=${packages}
common --repo_env=PHASIC_JAX_HEADERS=$2
build --disk_cache=${PHASIC_CACHE}/bazel
build --action_env=PHASIC_TOOLCHAIN=${toolchain}
build --test_env=PHASIC_TOOLCHAIN=${toolchain}
build --test_env=JAX_COMPILATION_CACHE_DIR=${PHASIC_CACHE}/jax
build --sandbox_writable_path=${PHASIC_CACHE}/jax"
  if [[ "$(cat .bazelrc.local 2>/dev/null)" != "${lines}" ]]; then
    echo "${lines}" > .bazelrc.local
  fi
}

main() {
  check_compiler
  local python
  choose_python

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
  check_libraries
  check_headers "${python}"

  local venv headers=""
  use_venv "${python}" "${locks[@]}"
  prune_venvs
  if [[ " ${substrates} " == *" jax "* ]]; then
    use_jax_headers "${venv}/bin/python"
  fi
  if [[ "$(readlink .venv)" != "${venv}" ]]; then
    rm -rf .venv
    ln -s "${venv}" .venv
  fi
  echo "${substrates}" > "${CHOICE}"
  write_bazelrc "${venv}" "${headers}"
}

main
