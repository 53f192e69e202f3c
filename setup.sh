#!/usr/bin/env bash
# Prepares a checkout: .venv with the pinned packages, the Debian packages that
# the build needs, and .bazelrc.local. Safe and quick to run again.
#
#   PYTHON             the Python 3.11 to use (default: python3.11, then python3)
#   PHASIC_SUBSTRATES  which of "jax tf" to install beside NumPy; default: what
#                      .venv has, both at first. "" gives NumPy alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly SUPPORTED_PYTHON="3.11"
readonly VENV="${PWD}/.venv"
readonly CHOICE="${VENV}/.phasic-substrates"
readonly STAMP="${VENV}/.phasic-stamp"

say() { echo "setup: $*" >&2; }
die() {
  say "error: $*"
  exit 1
}

# One setup at a time: two would write the same .venv.
if command -v flock >/dev/null; then
  exec 9>>.bazelrc.local
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

make_venv() {  # python, substrates
  local python="$1" name
  if ! "${python}" -c 'import ensurepip, venv' 2>/dev/null; then
    apt_install "Python module venv" "python${SUPPORTED_PYTHON}-venv"
    "${python}" -c 'import ensurepip, venv' 2>/dev/null ||
      die "${python} has no venv module; install python3-venv."
  fi
  say "making .venv with the pinned packages (up to 2.2 GB; a minute or two)"
  rm -rf "${VENV}"
  "${python}" -m venv "${VENV}"
  local args=()
  for name in dev $2; do
    args+=(-r "requirements-${name}.txt")
  done
  # The lock is complete, and leaves out what tools/lock_overrides.txt names.
  "${VENV}/bin/python" -m pip install --disable-pip-version-check -qq \
    --require-hashes --no-deps --only-binary=:all: "${args[@]}" ||
    die "pip could not install the pinned packages; see the lines above."
}

main() {
  check_compiler
  local python version
  python="$(find_python)"
  version="$(python_version "${python}")"
  [[ "${version}" == "${SUPPORTED_PYTHON}" ]] ||
    die "${python} is Python ${version}; only ${SUPPORTED_PYTHON} is" \
      "supported. Install it, or set PYTHON."

  local substrates="jax tf" name
  if [[ -e "${CHOICE}" ]]; then substrates="$(cat "${CHOICE}")"; fi
  substrates="${PHASIC_SUBSTRATES-${substrates}}"
  for name in ${substrates}; do
    [[ "${name}" == jax || "${name}" == tf ]] ||
      die "PHASIC_SUBSTRATES has '${name}'; it may name jax and tf."
  done

  check_bazel
  check_headers "${python}"

  local wanted
  wanted="$(
    echo "${substrates}"
    cat requirements-*.txt
    "${python}" -VV
  )"
  wanted="$(echo "${wanted}" | sha256sum | cut -d' ' -f1)"
  if [[ "$(cat "${STAMP}" 2>/dev/null)" != "${wanted}" ]]; then
    make_venv "${python}" "${substrates}"
    echo "${substrates}" > "${CHOICE}"
    echo "${wanted}" > "${STAMP}"
  fi

  # The stamp makes Bazel look again when a package was changed by hand.
  local stamp lines
  stamp="$("${VENV}/bin/python" tools/freeze.py | sha256sum | cut -c1-16)"
  lines="common --repo_env=PHASIC_PYTHON=${VENV}/bin/python
common --repo_env=PHASIC_ENV_STAMP=${stamp}"
  if [[ "$(cat .bazelrc.local 2>/dev/null)" != "${lines}" ]]; then
    echo "${lines}" > .bazelrc.local
  fi
}

main
