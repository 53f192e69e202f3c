# To be sourced, in the root of a clone, after tools/cache_dir.sh: finds Pythons
# and makes virtual environments with locked packages in the shared cache.

readonly UNUSED_DAYS=30  # until an environment is removed

say() { echo "setup: $*" >&2; }
die() {
  say "error: $*"
  exit 1
}

# One at a time, of all clones: two would write the same environment.
lock_environments() {
  if command -v flock >/dev/null; then
    exec 9>>"${PHASIC_CACHE}/setup.lock"
    flock 9
  fi
}

unlock_environments() { exec 9>&-; }

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

# Prints the Pythons that there are locks for, the newest first.
supported_pythons() {
  local folders=(requirements/3.*/)
  printf '%s\n' "${folders[@]}" | cut -d/ -f2 | sort -Vr
}

# Prints e.g. 3.11, and nothing where the name does not run.
python_version() {
  "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true
}

# Prints the interpreter that a virtual environment was made with.
base_python() { "$1" -c 'import sys; print(sys._base_executable)'; }

python_headers() {
  "$1" -c 'import sysconfig; print(sysconfig.get_paths()["include"])'
}

# Whether a Python has headers and venv, or is Debian's, for which apt-get can
# install both.
can_build() {
  local program
  program="$("$1" -c 'import os, sys; print(os.path.realpath(sys.executable))')"
  if [[ "${program}" == /usr/bin/* ]] && command -v apt-get >/dev/null; then
    return 0
  fi
  [[ -e "$(python_headers "$1")/Python.h" ]] &&
    "$1" -c 'import ensurepip, venv' 2>/dev/null
}

check_headers() {  # python
  local include
  include="$(python_headers "$1")"
  if [[ ! -e "${include}/Python.h" ]]; then
    apt_install "Python headers" "python$(python_version "$1")-dev"
  fi
  [[ -e "${include}/Python.h" ]] ||
    die "no Python.h in ${include}; install the headers of that Python."
}

# Prints the first of some Pythons that has a version and can build, or nothing. A
# name on the path may be there and refuse to run, as pyenv's do.
first_python() {  # version, names
  local version="$1" name
  shift
  for name in "$@"; do
    if [[ "$(python_version "${name}")" == "${version}" ]] &&
      can_build "${name}"; then
      command -v "${name}"
      return
    fi
  done
}

find_python() { first_python "$1" "python$1" python3; }  # version

# The same of those that PYTHONS names, those on the path, and pyenv's.
find_any_python() {  # version
  first_python "$1" ${PYTHONS:-} "python$1" python3 \
    "${PYENV_ROOT:-${HOME}/.pyenv}/versions/$1".*/bin/"python$1"
}

make_venv() {  # folder, python, files of locks
  local venv="$1" python="$2" name args=()
  shift 2
  if ! "${python}" -c 'import ensurepip, venv' 2>/dev/null; then
    apt_install "Python module venv" "python$(python_version "${python}")-venv"
    "${python}" -c 'import ensurepip, venv' 2>/dev/null ||
      die "${python} has no venv module; install python3-venv."
  fi
  say "making ${venv} with the pinned packages (up to 2.7 GB; a minute or two)"
  rm -rf "${venv}"
  "${python}" -m venv "${venv}"
  for name in "$@"; do
    args+=(-r "${name}")
  done
  # The locks are complete, and leave out what requirements/overrides.txt names.
  "${venv}/bin/python" -m pip install --disable-pip-version-check -qq \
    --require-hashes --no-deps --only-binary=:all: "${args[@]}" || {
    rm -rf "${venv}"
    die "pip could not install the pinned packages; see the lines above."
  }
}

# Removes environments that nothing used for long, and unfinished ones.
prune_venvs() {
  local venv
  for venv in "${PHASIC_CACHE}"/venv/*; do
    if [[ -z "$(find "${venv}/.phasic-stamp" -mtime "-${UNUSED_DAYS}" \
      2>/dev/null)" ]]; then
      rm -rf "${venv}"
    fi
  done
}

# Sets `venv` to the environment of a Python and some locks of its version, and
# makes it where it is missing. It cannot be moved, so it is made in place; its
# stamp is written last: without one it is what an interrupted setup left.
use_venv() {  # python, names of locks
  local python="$1" name version key files=()
  shift
  version="$(python_version "${python}")"
  for name in "$@"; do
    files+=("requirements/${version}/${name}.txt")
  done
  key="$(
    "${python}" -c 'import os, sys
print(sys.version, os.path.realpath(sys.executable))'
    for name in "$@"; do
      echo "${name}"
      cat "requirements/${version}/${name}.txt"
    done
  )"
  key="$(echo "${key}" | sha256sum | cut -c1-16)"
  venv="${PHASIC_CACHE}/venv/${key}"
  if [[ ! -e "${venv}/.phasic-stamp" ]]; then
    make_venv "${venv}" "${python}" "${files[@]}"
  fi
  touch "${venv}/.phasic-stamp"
}

# Sets `venv` to an environment beside .venv, with the same Python.
use_own_venv() {  # names of locks
  lock_environments
  use_venv "$(base_python .venv/bin/python)" "$@"
  unlock_environments
}

# Sets `headers` to a folder with the headers of requirements/jax-headers.txt in
# `include` and their version in VERSION.
use_jax_headers() {  # python of an environment
  local lock=requirements/jax-headers.txt pin scratch
  headers="${PHASIC_CACHE}/headers/$(sha256sum "${lock}" | cut -c1-16)"
  if [[ -e "${headers}/VERSION" ]]; then return; fi
  pin="$(grep -o '^jaxlib==[^ ]*' "${lock}")"
  say "fetching the headers of ${pin} (80 MB, of which 140 kB are kept)"
  scratch="$(mktemp -d -p "${PHASIC_CACHE}/headers")"
  # They are the same in the wheels of all Pythons and processors.
  "$1" -m pip download --disable-pip-version-check -qq \
    --require-hashes --no-deps --only-binary=:all: --dest "${scratch}" \
    --implementation cp --python-version 3.11 --abi cp311 \
    --platform manylinux_2_27_x86_64 -r "${lock}" && "$1" - "${scratch}" <<'EOF' ||
import pathlib
import sys
import zipfile

folder = pathlib.Path(sys.argv[1])
(wheel,) = folder.glob("*.whl")
with zipfile.ZipFile(wheel) as archive:
  names = [n for n in archive.namelist() if n.startswith("jaxlib/include/")]
  archive.extractall(folder, names)
(folder / "jaxlib" / "VERSION").write_text(wheel.name.split("-")[1])
EOF
    {
      rm -rf "${scratch}"
      die "the headers of ${pin} could not be fetched; see the lines above."
    }
  rm -rf "${headers}"
  mv "${scratch}/jaxlib" "${headers}"
  rm -rf "${scratch}"
}
