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
import datetime  # noqa: E402
import importlib.metadata  # noqa: E402
import platform  # noqa: E402

from absl import app  # noqa: E402
from absl import flags  # noqa: E402
import jax  # noqa: E402

from benchmarks import bound_calls  # noqa: E402
from benchmarks import fits  # noqa: E402
from benchmarks import growth  # noqa: E402
from benchmarks import host  # noqa: E402
from benchmarks import limits  # noqa: E402
from benchmarks import moments  # noqa: E402
from benchmarks import page  # noqa: E402
from benchmarks import quick  # noqa: E402
from benchmarks import results  # noqa: E402
from benchmarks import roof  # noqa: E402
from benchmarks import small_calls  # noqa: E402
from benchmarks import table  # noqa: E402

_REPEATS = flags.DEFINE_integer(
  "repeats", 7, "Rounds of which medians are taken."
)
_TIMES = flags.DEFINE_integer(
  "times", 100, "Times at which log f is computed in the first comparison."
)
_PAGE = flags.DEFINE_boolean(
  "page", False, "Writes docs/benchmarks.md and its plots."
)

SECTIONS = (
  table.per_time,
  table.sparse_batches,
  table.many_times,
  table.dense_models,
  table.regression,
  table.censored,
  table.adjoint,
  moments.splu,
  fits.gradient,
  fits.svgd,
  fits.em,
  limits.roofs,
  limits.loop_call,
  bound_calls.in_a_loop,
  table.peak_memory,
  small_calls.imports,
  small_calls.one_call,
)


def _facts() -> dict[str, str]:
  versions = [f"Python {platform.python_version()}"] + [
    f"{package} {importlib.metadata.version(package)}"
    for package in ("jax", "jaxlib", "numpy", "scipy")
  ]
  return {
    "machine": f"{host.machine()}, one core",
    "system": f"{platform.system()} {platform.machine()}",
    "versions": ", ".join(versions),
    "day": datetime.date.today().isoformat(),
    "rounds": f"{_REPEATS.value}, fewer where a call takes seconds",
    **limits.roof_rates(_REPEATS.value),
  }


def main(argv: Sequence[str]) -> None:
  del argv
  jax.config.update("jax_enable_x64", True)
  facts = _facts()
  for name, fact in facts.items():
    print(f"{name}: {fact}")
  print(
    "Medians of CPU time; ratios are to 'phasic, JAX': above one, phasic is "
    "faster."
  )
  quick.print_comparison(_TIMES.value, _REPEATS.value)

  print("\n" + results.text_line(results.HEADINGS))
  width = roof.Roof().doubles_per_vector
  rows, curves = [], []
  for section in SECTIONS:
    for row in section(_REPEATS.value):
      rows.append(row.for_vectors(width))
      print(results.text_line(rows[-1].cells()), flush=True)
  print("\nValue and gradient, each size doubled four times:")
  for curve in growth.curves(_REPEATS.value):
    curves.append(curve)
    print("  " + " ".join(curve.cells()), flush=True)
  if _PAGE.value:
    report = results.Report(facts, tuple(rows), tuple(curves))
    for path in page.write(report, host.docs_folder()):
      print(f"wrote {path}")


if __name__ == "__main__":
  app.run(main)
