#!/usr/bin/env bash
# Builds the site from docs/ into .build/site, with the wheel. Sphinx and what
# pages run have an environment of their own, from requirements/*/docs.txt, which
# is made once, in the cache that all clones share. So are the outputs of cells:
# a page runs again when its cells, the wheel, the locks or the data have changed.
#
#   tools/docs.sh            all pages
#   tools/docs.sh quick      does not run pages that say that they are slow
#   tools/docs.sh linkcheck  all pages, then looks at links to other sites
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh
source tools/environments.sh

# Prints what outputs of cells depend on besides the cells.
stamp() {  # folder with the wheel
  local version
  version="$(python_version "${venv}/bin/python")"
  {
    cat "$1/.digest" "requirements/${version}/docs.txt"
    find docs/kernel examples/data -type f -exec sha256sum {} + |
      sort
  } | sha256sum | cut -c1-16
}

main() {
  local mode="${1:-all}" installed cache
  use_own_venv docs
  installed="$(tools/unpack_wheel.sh)"
  cache="${PHASIC_CACHE}/site/$(stamp "${installed}")"
  mkdir -p "${cache}"
  touch "${cache}/lock"
  if command -v flock >/dev/null; then
    exec 6>>"${cache}/lock"
    flock 6
  fi

  export PYTHONPATH="${installed}"
  export JAX_PLATFORMS=cpu TF_CPP_MIN_LOG_LEVEL=2 TF_ENABLE_ONEDNN_OPTS=0
  # Settings of kernels, which write beside them.
  export IPYTHONDIR="${PWD}/.build/ipython"
  mkdir -p "${IPYTHONDIR}/profile_default"
  cp docs/kernel/ipython_kernel_config.py "${IPYTHONDIR}/profile_default"
  export MATPLOTLIBRC="${PWD}/docs/kernel/matplotlibrc"
  export PHASIC_SITE_CACHE="${cache}/cells"
  if [[ "${mode}" == quick ]]; then export PHASIC_SITE_QUICK=1; fi
  # More than processors: a page waits while its kernel starts.
  local sphinx=("${venv}/bin/python" -P -m sphinx --fail-on-warning --keep-going
    --jobs 4 --quiet -d .build/site-doctrees)
  "${sphinx[@]}" -b html docs .build/site || {
    # Or else the next build would not look again at pages with warnings.
    rm -f .build/site-doctrees/environment.pickle
    exit 1
  }
  echo "docs: .build/site/index.html" >&2
  if [[ "${mode}" == linkcheck ]]; then
    "${sphinx[@]}" -b linkcheck docs .build/site-links
  fi
}

main "$@"
