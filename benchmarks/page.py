"""Writes docs/benchmarks.md and its plots from what a run has found."""

from collections.abc import Iterable, Mapping, Sequence
import pathlib

from matplotlib import rc_context
from matplotlib import ticker
from matplotlib.figure import Figure

from benchmarks import results

PAGE = "benchmarks.md"
COST_PAGE = "benchmarks_cost.md"
PEERS_PAGE = "benchmarks_peers.md"
PLOT = "benchmarks_growth.svg"

_HEAD = """\
# Benchmarks

Written by `make bench-page`, which runs what `make bench` runs and writes this
page and its plots from that run's own figures. Nothing here is typed by hand.

[Against peers](benchmarks_peers.md) has the libraries that users would take
instead: the package that is called phasic on PyPI, PhaseGen, SciPy, JAXbind and
TensorFlow Probability.
"""

_COSTS = """\
# Cost by q t

Written by `make bench-cost`, from that run's own figures. Times go up to q t,
where q is the largest rate. It is doubled from one on, until a call takes a
quarter of a second or is beyond the work limit. All in NumPy, on one
thread; medians of CPU time of calls that take turns. Each call has new rates,
as in a fit: repeated calls of one model would reuse its powers. "gradient" is
`value_and_gradient`, value and cotangents of every argument, "jvp" is `jvp`,
value and derivative along all rates. Up to 100 phases models are matrices,
whose gradient has an entry for each pair of phases; above they are edges. A
ratio is the largest, and stands beside the q t where it is; a rise is from one
q t to the next.
"""

_PEERS = """\
# Against peers

Written by `make bench-peers`, from that run's own figures. Nothing here is
typed by hand.
"""

_PEERS_METHOD = """\
## Method

- Each library has a process of its own, with one thread, and all are pinned to
  one core. The processes of phasic and of the peer take turns. Figures are
  medians of wall times; each time is of at least 20 ms of calls, with Python's
  garbage collector off.
- Values are compared before times. If they differ the run ends with an error.
- The incumbent is the package that is called phasic on PyPI. It approximates
  densities with a step that it chooses: they may differ by 1 % of the largest
  density, and the gradient of its log likelihood by 3 %. Means and deviations of
  20,000 samples may differ by 3 %. All other values agree to 1e-7 or better.
- Models with 41 and 626 states are the block-counting process of Kingman's
  coalescent, of 10 and 20 lineages. Each call has a new rate, as in a fit, except
  in rows of samples and quantiles and where the row says "same rate": there
  phasic goes on from what it has kept of the model. phasic's graph is made
  beforehand, except where the row says "graph built". PhaseGen makes its states
  again for each rate.
- Mean spectra are those of `kingman_spectrum`, which needs the numbers of
  lineages alone; PhaseGen takes such a shortcut, too. "By block counts" neither
  does, as other models have none. A population of three epochs changes its size
  at two times. A fit is of the time of one change and of the size before it to a
  spectrum, with both sides' exact gradients and SciPy's L-BFGS-B; the losses are
  what is compared. "One start" is the fastest way that PhaseGen has, "ten starts"
  its default.
- Rows that begin with NumPy, TensorFlow or JAX have a general model of three
  phases. The gamma distribution beside it is the same distribution. The loops
  call NumPy's sine of four numbers.
- Docstrings in `benchmarks/peers/rows_*.py` say how each side is written.
- `ratio` is phasic's time over the peer's; `asked` and `goal` are upper bounds.
"""

_METHOD = """\
## Method

- One process, one thread, pinned to one core, phasic and references alike.
  Methods that are compared take turns; figures are medians of CPU time, and
  ratios are of medians of the same run.
- Before they are timed, methods must agree: on values and on gradients.
- Each call has parameters of its own, which differ by some 1e-15 from those of the
  call before: phasic would go on from what it has kept of a large model.
- Models are linear in two parameters. "Kingman-n" is the block-counting
  process of n lineages; "dense-p" has all p (p - 1) transitions; stiff
  "birth-death-100" has rates from 1e3 to 1e-2. Times go to where 1e-3 of the
  mass is left. Figures of a batch are per model.
- "per time" is compiled C++ with phasic's flags: uniformization for each time
  by itself, and central differences.
- "JAX scan" is uniformization in JAX, one scan over the sequence for all
  times, and its gradient by reverse mode. Several ways to write the step are
  tried in the run (dense: a matrix per model, or one product for all models;
  sparse: edges with a segment sum, or edges by rank into each phase), and the
  fastest is the reference. Without "vmapped", batches of sparse models are laid
  out by hand, models innermost; with it, the batch is left to `jax.vmap`.
  Poisson weights of fixed times are made beforehand, for a rate above all that
  the parameters may have, except for 100,000 times: there times are an argument,
  as phasic's are, and "table given" is the other way. With "own rates" each
  model has its rate, as in phasic, and its weights, which are not
  differentiated: nothing has to be known of the parameters beforehand.
- The roof: a multiply-add takes at least one factor from a cache, so that a
  step's least time is the larger of multiply-adds over their peak and of
  eight bytes each over the load rate of the cache that holds the model (eight
  models side by side where they are sparse). Peaks are measured in turns with
  the step.
- A call in a loop: what an iteration takes, less an empty loop's.
- An import: in a process of its own, with compiled bytecode in a cache.
- `ratio` is the reference over phasic where more is better, and phasic over
  the reference where the bound is a most. Floors that are a least are for
  AVX-512 and 0.7 of it elsewhere; the column has what holds here.
"""


def _table(headings: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
  headings = tuple(headings)
  rows = [headings, ("---",) * len(headings), *lines]
  return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def markdown(report: results.Report) -> str:
  """The page's text."""
  cells = [row.cells() for row in report.rows]
  curves = [curve.cells() for curve in report.curves]
  return "\n".join(
    [
      _HEAD,
      "## Machine\n",
      _table(("what", "here"), report.facts.items()),
      _METHOD,
      "## Table\n",
      _table(results.HEADINGS, cells),
      "## Growth\n",
      "Cost of a value and gradient against one size, doubled four times. The\n"
      "exponent is the slope over the last two doublings.\n",
      _table(results.CURVE_HEADINGS, curves),
      f"![Cost against each size, both axes logarithmic]({PLOT})\n",
    ]
  )


def plot(report: results.Report) -> Figure:
  """A panel for each curve, with a line of the order there should be."""
  rows = -(-len(report.curves) // 2)
  figure = Figure(figsize=(6.8, 2.4 * rows), layout="constrained")
  panels = figure.subplots(rows, 2, squeeze=False)
  for axes in panels.flat[len(report.curves) :]:
    axes.set_axis_off()
  for axes, curve in zip(panels.flat, report.curves):
    milliseconds = [1e3 * x for x in curve.seconds]
    first, last = curve.sizes[0], curve.sizes[-1]
    order = (last / first) ** curve.order
    axes.loglog(curve.sizes, milliseconds, "o-", label="measured")
    axes.loglog(
      (first, last),
      (milliseconds[-1] / order, milliseconds[-1]),
      ":",
      color="gray",
      label=f"order {curve.order:g}",
    )
    axes.set_xticks(curve.sizes, [str(x) for x in curve.sizes])
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    label = f"{curve.size}: {curve.meaning}".replace(" (", "\n(")
    axes.set_xlabel(label, fontsize=9)
    axes.set_ylabel("cost (ms)", fontsize=9)
    axes.tick_params(labelsize=9)
    axes.legend(fontsize=9)
  return figure


def write(
  report: results.Report, folder: pathlib.Path
) -> tuple[pathlib.Path, pathlib.Path]:
  """Writes the page and the plots.

  Args:
    report: what the run has found.
    folder: where to.

  Returns:
    The paths of the two files.
  """
  text, picture = folder / PAGE, folder / PLOT
  text.write_text(markdown(report), encoding="utf-8")
  # Text stays text, and the same figures give the same file.
  with rc_context({"svg.fonttype": "none", "svg.hashsalt": "phasic"}):
    plot(report).savefig(picture, metadata={"Date": None})
  return text, picture


def write_costs(
  machine: str,
  headings: Iterable[str],
  lines: Iterable[Iterable[str]],
  folder: pathlib.Path,
) -> pathlib.Path:
  """Writes the page of costs by q t.

  Args:
    machine: where they were measured.
    headings: of the table.
    lines: of the table.
    folder: where to.

  Returns:
    The path of the page.
  """
  path = folder / COST_PAGE
  text = "\n".join([_COSTS, f"Machine: {machine}.\n", _table(headings, lines)])
  path.write_text(text, encoding="utf-8")
  return path


def write_peers(
  facts: Mapping[str, str],
  headings: Iterable[str],
  lines: Iterable[Iterable[str]],
  left_out: Sequence[tuple[str, str]],
  folder: pathlib.Path,
) -> pathlib.Path:
  """Writes the page of comparisons with peers.

  Args:
    facts: what the figures hold for: machine, versions, ...
    headings: of the table.
    lines: of the table.
    left_out: what could not be compared, and why.
    folder: where to.

  Returns:
    The path of the page.
  """
  parts = [
    _PEERS,
    "## Machine\n",
    _table(("what", "here"), facts.items()),
    _PEERS_METHOD,
    "## Table\n",
    _table(headings, lines),
  ]
  if left_out:
    parts += ["## Left out\n", _table(("what", "why"), left_out)]
  path = folder / PEERS_PAGE
  path.write_text("\n".join(parts), encoding="utf-8")
  return path
