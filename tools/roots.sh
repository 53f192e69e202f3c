# To be sourced, in the root of a clone, after tools/cache_dir.sh and
# tools/environments.sh: systems of Debian with a Python, for what this system does
# not have: another processor, or a newer Python. They lie in the shared cache, are
# made without being root, and nothing of theirs is installed. tools/enter_root.sh
# runs programs in them.

# Sets `root` to a system with a Python, and makes it where it is missing. Sets
# `reason`, and fails, where it cannot be had.
use_root() {  # Debian's architecture, suite, version of Python
  local key
  key="$(echo "$* $(sha256sum < tools/roots.sh)" | sha256sum | cut -c1-16)"
  # Where tools/environments.sh removes what nothing used for long.
  root="${PHASIC_CACHE}/venv/${key}"
  if [[ ! -e "${root}/.phasic-stamp" ]] && ! make_root "$@"; then return 1; fi
  if ! tools/enter_root.sh "${root}" "python$3" -c "" 2>/dev/null; then
    reason="a program cannot run in a root here: user namespaces are off, or the"
    reason+=" kernel is older than 6.7 (for aarch64)"
    return 1
  fi
  touch "${root}/.phasic-stamp"
}

make_root() {  # Debian's architecture, suite, version of Python
  local program package
  for program in debootstrap:debootstrap dpkg-deb:dpkg unshare:util-linux \
    qemu-aarch64-static:qemu-user-static; do
    if [[ "${program}" == qemu* && "$1" != arm64 ]]; then continue; fi
    if ! PATH="${PATH}:/usr/sbin" command -v "${program%:*}" >/dev/null; then
      reason="${program%:*} is missing; install ${program#*:}"
      return 1
    fi
  done
  say "making a root with Debian $2 for $1 (up to 400 MB; a minute or two)"
  rm -rf "${root}"
  mkdir -p "${root}"
  # Debian's `sid` names what is to be done for all suites; an older debootstrap
  # does not know names of later ones.
  if ! PATH="${PATH}:/usr/sbin" unshare --user --map-root-user \
    debootstrap --download-only --arch="$1" --variant=minbase \
    --include="python$3,python$3-venv,libpython$3-dev,libstdc++6" "$2" "${root}" \
    http://deb.debian.org/debian /usr/share/debootstrap/scripts/sid \
    > "${root}.log" 2>&1; then
    reason="debootstrap failed: $(tail -n 1 "${root}.log")"
    rm -rf "${root}" "${root}.log"
    return 1
  fi
  # Unpacked, and not installed: programs for another processor need not run.
  for package in "${root}"/var/cache/apt/archives/*.deb; do
    dpkg-deb --extract "${package}" "${root}" || {
      reason="dpkg-deb could not unpack $(basename "${package}")"
      rm -rf "${root}" "${root}.log"
      return 1
    }
  done
  rm -rf "${root}/var/cache/apt/archives" "${root}.log"
  echo "$1" > "${root}/ARCHITECTURE"
  touch "${root}/.phasic-stamp"
}

# Sets `site` to a folder with the packages of a lock for a Python and a processor
# that need not be this one's.
use_site() {  # version of Python, x86_64 or aarch64, file of a lock
  local key platforms=() tag
  key="$({ echo "$1 $2"; cat "$3"; } | sha256sum | cut -c1-16)"
  site="${PHASIC_CACHE}/venv/${key}"
  if [[ ! -e "${site}/.phasic-stamp" ]]; then
    say "fetching the packages of $3 for Python $1 on $2"
    rm -rf "${site}"
    for tag in _2_{28,27,26,24,17,12,5} 2014 2010 1; do
      platforms+=("--platform=manylinux${tag}_$2")
    done
    .venv/bin/python -m pip install --disable-pip-version-check -qq \
      --require-hashes --no-deps --only-binary=:all: --ignore-requires-python \
      --python-version "$1" --implementation cp --abi "cp${1/./}" --abi abi3 \
      --abi none "${platforms[@]}" --target "${site}" -r "$3" || {
      rm -rf "${site}"
      reason="pip could not fetch the packages of $3"
      return 1
    }
  fi
  touch "${site}/.phasic-stamp"
}
