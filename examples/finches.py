"""Gene flow between two finches, from differences of their DNA at 30 loci.

One sequence of each of two species (data/finches.csv) differ at a locus by the
mutations since their common ancestor. Back in time the two lineages are on
islands that exchange migrants, and can only meet on the same one. The
posterior of migration and mutation rate is sampled by NUTS of NumPyro; the
number of differences is a discrete phase-type, and its log-likelihood is used
as it is.

    python examples/finches.py
"""

from collections.abc import Sequence
import os
import sys

from absl import app
from absl import flags

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

_SEED = flags.DEFINE_integer("seed", 2005, "Of the sampler.")
_PROGRESS = flags.DEFINE_bool("progress", True, "Whether a bar is shown.")


def main(argv: Sequence[str]) -> None:
  if len(argv) > 1:
    raise app.UsageError(f"unexpected arguments: {argv[1:]}")
  # Only here, so that --help is quick.
  from bayes import gene_flow

  gene_flow.tell(_SEED.value, _PROGRESS.value)


if __name__ == "__main__":
  app.run(main)
