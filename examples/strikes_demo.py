"""Fits phase-types to how long strikes lasted: the main job, on real data.

Coxian phase-types with 1 to 4 phases are fitted to the 62 strike durations of
data/strikes.csv, compared by AIC, and given standard errors where there are
any; NumPy, JAX and TensorFlow are compared bit by bit; a fit to simulated
times shows that the truth is found again; a picture shows the fits.

Run it with `make demo`.
"""

from collections.abc import Sequence
import os
import sys

from absl import app
from absl import flags

_HERE = os.path.dirname(os.path.abspath(__file__))
_DATA = flags.DEFINE_string(
  "data", os.path.join(_HERE, "data", "strikes.csv"), "Durations, one a line."
)
_OUTPUT = flags.DEFINE_string(
  "output", os.path.join(_HERE, "strikes.png"), "Where the picture goes."
)
_STARTS = flags.DEFINE_integer(
  "starts", 8, "Random starts of each fit.", lower_bound=1
)
_SIMULATED = flags.DEFINE_integer(
  "simulated", 5000, "How many times are simulated.", lower_bound=100
)
_SEED = flags.DEFINE_integer(
  "seed", 1985, "For starts and simulated times.", lower_bound=0
)


def main(argv: Sequence[str]) -> None:
  if len(argv) > 1:
    raise app.UsageError(f"unexpected arguments: {argv[1:]}")
  # `python -P`, which `make demo` uses, leaves the script's directory out.
  if _HERE not in sys.path:
    sys.path.insert(0, _HERE)
  # Only here, so that --help is quick.
  from demo import story

  alike = story.tell(
    data=_DATA.value,
    output=_OUTPUT.value,
    num_random=_STARTS.value,
    num_simulated=_SIMULATED.value,
    seed=_SEED.value,
  )
  if not alike:
    sys.exit("NumPy, JAX and TensorFlow gave different bits")


if __name__ == "__main__":
  app.run(main)
