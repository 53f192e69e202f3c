"""Prints how fast phasic is next to other ways to the same numbers.

One process, one thread, pinned to one core: methods take turns, and medians
of CPU time are compared. All methods start from parameters theta; the
gradient is that of the sum of log f.
"""

import os

# Before anything that starts threads.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
  os.environ[_name] = "1"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
if hasattr(os, "sched_setaffinity"):
  os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

from collections.abc import Sequence  # noqa: E402

from absl import app  # noqa: E402
from absl import flags  # noqa: E402
import jax  # noqa: E402

from benchmarks import bound_calls  # noqa: E402
from benchmarks import fits  # noqa: E402
from benchmarks import host  # noqa: E402
from benchmarks import limits  # noqa: E402
from benchmarks import memory  # noqa: E402
from benchmarks import moments  # noqa: E402
from benchmarks import page  # noqa: E402
from benchmarks import quick  # noqa: E402
from benchmarks import regressions  # noqa: E402
from benchmarks import results  # noqa: E402
from benchmarks import small_calls  # noqa: E402
from benchmarks import table  # noqa: E402
from benchmarks import words  # noqa: E402

_REPEATS = flags.DEFINE_integer(
  "repeats", 7, "Rounds of which medians are taken."
)
_TIMES = flags.DEFINE_integer(
  "times", 100, "Times at which log f is computed in the first comparison."
)
_PAGE = flags.DEFINE_boolean(
  "page", False, "Writes docs/benchmarks.md and its picture."
)

# The tables, and what measures their rows.
_GROUPS = {
  "Densities and gradients": (
    table.per_time,
    table.sparse_batches,
    table.many_times,
    table.dense_models,
    table.regression,
    regressions.effects_on_time,
    regressions.effects_on_rates,
    small_calls.one_call,
  ),
  "Means and variances": (moments.splu,),
  "Fits": (fits.gradient, fits.svgd, fits.em),
  "Functions of one's own": (bound_calls.in_a_loop,),
  "Overheads": (
    table.exp_and_log,
    table.censored,
    table.adjoint,
    fits.starts,
    limits.roofs,
    limits.loop_call,
    small_calls.imports,
  ),
}


def main(argv: Sequence[str]) -> None:
  del argv
  jax.config.update("jax_enable_x64", True)
  repeats = _REPEATS.value
  facts = host.facts(("jax", "jaxlib", "numpy", "scipy"), repeats)
  facts |= limits.roof_rates(repeats)
  print(page.section("Machine", facts))
  print(
    "Medians of CPU time; ratios are to 'phasic, JAX': above one, phasic is "
    "faster."
  )
  quick.print_comparison(_TIMES.value, repeats)

  groups: dict[str, list[results.Row]] = {}
  for title, sections in _GROUPS.items():
    print(f"\n{title}\n{results.text_line(results.HEADINGS)}")
    groups[title] = []
    for section in sections:
      for row in section(repeats):
        groups[title].append(row)
        print(results.text_line(row.cells()), flush=True)
  lists = {"Peak memory": memory.peaks(), "Machine": facts}
  print("\n" + page.section("Peak memory", lists["Peak memory"]))
  if _PAGE.value:
    for path in page.write(words.BENCHMARKS, groups, lists, host.docs_folder()):
      print(f"wrote {path}")


if __name__ == "__main__":
  app.run(main)
