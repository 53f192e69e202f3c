#!/usr/bin/env bash
# Writes the figures of regressions in tests/oracle/regressions anew, by R's
# survival, by lifelines, in an environment of its own, and by mpmath; and those
# of multi-state models in tests/oracle/panel, by R's msm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/cache_dir.sh
source tools/environments.sh

command -v Rscript >/dev/null || die "no Rscript; on Debian, run as root:" \
  "apt-get install --no-install-recommends r-base-core r-cran-survival" \
  "r-cran-msm"
use_own_venv lifelines
.venv/bin/python -m tests.oracle.regressions.regenerate \
  --lifelines="${venv}/bin/python"
exec .venv/bin/python -m tests.oracle.panel.regenerate
