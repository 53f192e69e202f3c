"""Prints what calls cost as q t grows, or writes docs/benchmarks_cost.md."""

import os

# Before anything that starts threads.
os.environ["PHASIC_NUM_THREADS"] = "1"
if hasattr(os, "sched_setaffinity"):
  os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

from collections.abc import Sequence

from absl import app
from absl import flags

from benchmarks import cost_by_time
from benchmarks import host
from benchmarks import page

_REPEATS = flags.DEFINE_integer(
  "repeats", 5, "Rounds of which medians are taken."
)
_PAGE = flags.DEFINE_boolean("page", False, "Writes docs/benchmarks_cost.md.")


def main(argv: Sequence[str]) -> None:
  del argv
  found = []
  for cost in cost_by_time.costs(_REPEATS.value):
    found.append(cost.cells())
    print(" | ".join(found[-1]), flush=True)
  if _PAGE.value:
    path = page.write_costs(
      f"{host.machine()}, one core",
      cost_by_time.HEADINGS,
      found,
      host.docs_folder(),
    )
    print(f"wrote {path}")


if __name__ == "__main__":
  app.run(main)
