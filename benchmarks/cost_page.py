"""Writes the page of growth and cost, and its picture."""

from collections.abc import Callable, Mapping, Sequence
import pathlib

from matplotlib import ticker
from matplotlib.figure import Figure

from benchmarks import page
from benchmarks import results
from benchmarks import words

PICTURE = "benchmarks_growth.svg"
# A rise from one q t to the next, and derivatives in values, from which on a
# model is listed.
_STEEP, _MANY_VALUES = 5.0, 25.0

_RANGES = """\
## Cost by q t

q is the largest rate of a model and t the largest time, so that q t is about the
number of steps. Each line is for all kinds of models:
{}.
Derivatives are in values of the same model and q t, where that is most: a
gradient of 8 takes as long as 8 values.
"""
_RANGE_HEADINGS = (
  *("phases", "times", "value at q t = 1", "value at the last q t"),
  *("last q t", "gradient, in values", "jvp, in values"),
)
_CLIFFS = f"""\
## Cliffs

Twice the q t is at most twice as many steps. These models rise by more than
{_STEEP:g} times from one q t to the next, or their derivatives take more than
{_MANY_VALUES:g} values. A rise stands beside the q t from which it is, a ratio
beside the q t at which it is largest. From q t = 2^9 on
[squared powers](decisions/0010-doubling-ladder.md) may take the place of steps,
within the limit on work, and [many times](decisions/0014-many-times.md) no longer share
them; numbers beyond the range of doubles cost
[up to ten times as much](how-to/speed.md#the-limit-on-work).
"""


def write(
  curves: Sequence[results.Curve],
  costs: Sequence[results.Cost],
  facts: Mapping[str, str],
  folder: pathlib.Path,
) -> list[pathlib.Path]:
  """Writes the page of growth and cost, and its picture.

  Args:
    curves: cost against each size.
    costs: against q t.
    facts: what the figures hold for: machine, versions, ...
    folder: where to.

  Returns:
    The paths of the two files.
  """
  growth = ", ".join(curve.growth() for curve in curves)
  kinds = ", ".join(dict.fromkeys(cost.structure for cost in costs))
  cliffs = [cost.cells() for cost in costs if _is_steep(cost)]
  parts = [
    words.COST.introduction,
    f"![Cost against each size: it grows as {growth}]({PICTURE})\n",
    "## Growth\n",
    "".join(f"- {curve.sentence()}\n" for curve in curves),
    _RANGES.format(kinds),
    page.table(_RANGE_HEADINGS, _ranges(costs)),
    _CLIFFS,
    page.table(results.COST_HEADINGS, cliffs),
    "<details>\n<summary>All models</summary>\n",
    page.table(results.COST_HEADINGS, [cost.cells() for cost in costs]),
    "</details>\n",
    page.section("Machine", facts),
    words.COST.method,
  ]
  text = folder / f"{words.COST.name}.md"
  text.write_text("\n".join(parts), encoding="utf-8")
  return [text, page.save(_picture(curves), folder / PICTURE)]


def _ranges(costs: Sequence[results.Cost]) -> list[tuple[str, ...]]:
  """Returns a line for each number of phases and of times."""
  groups: dict[tuple[int, str], list[results.Cost]] = {}
  for cost in sorted(costs, key=lambda cost: cost.phases):
    groups.setdefault((cost.phases, cost.times), []).append(cost)
  return [
    (
      f"{phases:,}",
      times,
      _range(results.duration, [x.first_value for x in group]),
      _range(results.duration, [x.last_value for x in group]),
      _range("2^{:g}".format, [x.last for x in group]),
      results.number(max(x.gradient.ratio for x in group)),
      results.number(max(x.jvp.ratio for x in group)),
    )
    for (phases, times), group in groups.items()
  ]


def _range(text: Callable[[float], str], numbers: Sequence[float]) -> str:
  return " to ".join(dict.fromkeys(map(text, (min(numbers), max(numbers)))))


def _is_steep(cost: results.Cost) -> bool:
  rise = max(cost.value_rise.ratio, cost.gradient_rise.ratio)
  return (
    rise > _STEEP or max(cost.gradient.ratio, cost.jvp.ratio) > _MANY_VALUES
  )


def _picture(curves: Sequence[results.Curve]) -> Figure:
  """Draws a line for each size, both axes logarithmic."""
  figure = Figure(figsize=(6.8, 3.8), layout="constrained")
  axes = figure.subplots()
  for curve, marker in zip(curves, "osv^D<>", strict=False):
    axes.loglog(
      [x / curve.sizes[0] for x in curve.sizes],
      [x / curve.seconds[0] for x in curve.seconds],
      f"{marker}-",
      label=f"{curve.growth()}: {curve.meaning}".replace(" (", "\n("),
    )
  for axis in (axes.xaxis, axes.yaxis):
    axis.set_major_locator(ticker.LogLocator(base=2.0))
    axis.set_major_formatter("{x:g}")
  axes.minorticks_off()
  axes.set(xlabel="size over the smallest", ylabel="cost over the smallest")
  figure.legend(loc="outside right upper", fontsize=8)
  return figure
