# To be sourced. Sets PHASIC_CACHE to the folder that all clones share, and
# makes the folder. It holds:
#
#   venv/KEY  virtual environments, one per lock file and interpreter
#   headers/  of the oldest jaxlib that is supported
#   bazel/    Bazel's disk cache
#   jax/      what JAX compiled in tests
#   mypy/     what mypy knows of modules that did not change
#   site/     outputs of the cells of pages, see tools/docs.sh
#   tidy/     which sources passed clang-tidy
#   *.lock    locks of setup.sh, tools/prune_caches.py and tools/typecheck.sh

PHASIC_CACHE="${XDG_CACHE_HOME:-}"
# The XDG specification says that relative paths are to be ignored.
if [[ "${PHASIC_CACHE}" != /* ]]; then PHASIC_CACHE="${HOME:?}/.cache"; fi
PHASIC_CACHE="${PHASIC_CACHE}/phasic"
(umask 077 && mkdir -p "${PHASIC_CACHE}")
# Clones that reach the folder through different links share keys, too.
PHASIC_CACHE="$(cd "${PHASIC_CACHE}" && pwd -P)" || exit 1
# Programs in it run, so nobody else may write there.
if [[ "$(stat -c %u "${PHASIC_CACHE}")" != "$(id -u)" ]]; then
  echo "the cache is ${PHASIC_CACHE}, which belongs to another user: it must be" \
    "yours, as its programs run; set XDG_CACHE_HOME to a folder of yours" >&2
  exit 1
fi
chmod 700 "${PHASIC_CACHE}"
mkdir -p "${PHASIC_CACHE}"/{venv,headers,bazel,jax,mypy,site,tidy}
