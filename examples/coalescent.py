"""One rate of a coalescent, by four methods on the same log-likelihood.

The times until 200 samples of four lineages have a common ancestor are
simulated, and the rate of coalescence is found again: by maximum likelihood
with optax, and with NUTS of BlackJAX, both directly on `log_prob`; then, with
a model of NumPyro, by its NUTS and by Stein variational gradient descent.
A grid says what the posterior is.

    python examples/coalescent.py
"""

from collections.abc import Sequence
import os
import sys
import time
from typing import Any

from absl import app
from absl import flags

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

_SEED = flags.DEFINE_integer("seed", 1982, "For times and samplers.")
_PROGRESS = flags.DEFINE_bool("progress", True, "Whether bars are shown.")


def main(argv: Sequence[str]) -> None:
  if len(argv) > 1:
    raise app.UsageError(f"unexpected arguments: {argv[1:]}")
  # Only here, so that --help is quick.
  from bayes import one_rate

  key, progress = one_rate.key(_SEED.value), _PROGRESS.value
  times = one_rate.simulate(key)
  print(f"{'':26s}{'mean':>10s}{'sd':>10s}{'seconds':>9s}")
  rate = one_rate.TRUTH
  print(f"{'the truth':26s}{rate:10.5f}")
  mean, sd = one_rate.by_grid(times)
  print(f"{'posterior, by a grid':26s}{mean:10.5f}{sd:10.5f}")

  def line(name: str, method: Any, *args: Any) -> None:
    began = time.monotonic()
    mean, sd = method(*args)
    seconds = time.monotonic() - began
    print(f"{name:26s}{mean:10.5f}{sd:10.5f}{seconds:9.1f}", flush=True)

  line("optax, most likely", one_rate.by_optax, times)
  line("BlackJAX NUTS, log_prob", one_rate.by_blackjax, times, key, progress)
  for name, sampler in one_rate.SAMPLERS.items():
    line(name, one_rate.by_sampler, sampler, times, key, progress)


if __name__ == "__main__":
  app.run(main)
