"""Prints what calls cost as sizes and q t grow, or writes a page of it."""

import os

# Before anything that starts threads.
for _name in (
  *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
  "PHASIC_NUM_THREADS",
):
  os.environ[_name] = "1"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
if hasattr(os, "sched_setaffinity"):
  os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

from collections.abc import Sequence  # noqa: E402

from absl import app  # noqa: E402
from absl import flags  # noqa: E402
import jax  # noqa: E402

from benchmarks import cost_by_time  # noqa: E402
from benchmarks import cost_page  # noqa: E402
from benchmarks import growth  # noqa: E402
from benchmarks import host  # noqa: E402

_REPEATS = flags.DEFINE_integer(
  "repeats", 5, "Rounds of which medians are taken."
)
_PAGE = flags.DEFINE_boolean("page", False, "Writes docs/benchmarks_cost.md.")


def main(argv: Sequence[str]) -> None:
  del argv
  jax.config.update("jax_enable_x64", True)
  curves, costs = [], []
  for curve in growth.curves(_REPEATS.value):
    curves.append(curve)
    print(curve.sentence(), flush=True)
  for cost in cost_by_time.costs(_REPEATS.value):
    costs.append(cost)
    print(" | ".join(cost.cells()), flush=True)
  if _PAGE.value:
    facts = host.facts(("jax", "jaxlib", "numpy"), _REPEATS.value)
    for path in cost_page.write(curves, costs, facts, host.docs_folder()):
      print(f"wrote {path}")


if __name__ == "__main__":
  app.run(main)
