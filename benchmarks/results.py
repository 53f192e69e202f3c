"""What a run measures, and how it is written as text."""

from collections.abc import Iterable, Mapping, Sequence
import itertools
from typing import NamedTuple

import numpy as onp


class Row(NamedTuple):
  """A comparison of phasic with something else.

  Attributes:
    what: is timed.
    ours: phasic's seconds.
    theirs: the other's seconds.
    other: what phasic is compared with.
    reason: why phasic may be slower, in one sentence.
  """

  what: str
  ours: float
  theirs: float
  other: str
  reason: str = ""

  def ratio(self) -> float:
    """Returns how many times faster phasic is: below one it is slower."""
    return self.theirs / self.ours

  def cells(self) -> tuple[str, ...]:
    """Returns the line's texts, in the order of HEADINGS."""
    return (
      self.what,
      duration(self.ours),
      duration(self.theirs),
      self.other,
      number(self.ratio()),
    )


HEADINGS = ("what", "phasic", "other", "which is", "times faster")
# The tables of a page, by their titles.
Groups = Mapping[str, Sequence[Row]]


class Curve(NamedTuple):
  """Cost against one size, which is doubled.

  Attributes:
    size: its letter.
    meaning: of the letter.
    sizes: of the models.
    seconds: of one value and gradient.
  """

  size: str
  meaning: str
  sizes: tuple[int, ...]
  seconds: tuple[float, ...]

  def growth(self) -> str:
    """Returns the size with the exponent by which the cost grows.

    The exponent is the slope over the last two doublings, both axes
    logarithmic.
    """
    tail = slice(-3, None)
    x, y = onp.log(self.sizes[tail]), onp.log(self.seconds[tail])
    return f"{self.size}^{onp.polyfit(x, y, 1)[0].round(2) + 0.0:.2g}"

  def sentence(self) -> str:
    """Returns the growth in words."""
    costs = ", ".join(duration(x) for x in self.seconds)
    sizes = ", ".join(f"{x:,}" for x in self.sizes[:-1])
    return (
      f"Cost grows as {self.growth()} with {self.meaning}: {costs} "
      f"for {self.size} = {sizes} and {self.sizes[-1]:,}."
    )


class Peak(NamedTuple):
  """A largest ratio, and the exponent of q t where it is."""

  ratio: float
  exponent: int

  def __str__(self) -> str:
    return f"{number(self.ratio)} at 2^{self.exponent}"


class Cost(NamedTuple):
  """What calls of a model cost while q t is doubled from one on.

  Attributes:
    structure: of the model.
    phases: how many there are.
    times: how many there are, of how many models.
    last: the exponent of the last q t.
    first_value: seconds of the value at q t = 1.
    last_value: the same at the last q t.
    gradient: the largest cost of the gradient, in values.
    jvp: the same of the derivative in one direction.
    value_rise: the largest cost of the value, in those at half of the q t.
    gradient_rise: the same of the gradient.
  """

  structure: str
  phases: int
  times: str
  last: int
  first_value: float
  last_value: float
  gradient: Peak
  jvp: Peak
  value_rise: Peak
  gradient_rise: Peak

  def cells(self) -> tuple[str, ...]:
    """Returns the line's texts, in the order of COST_HEADINGS."""
    return (
      f"{self.structure}, {self.phases:,} phases",
      self.times,
      f"2^{self.last}",
      f"{duration(self.first_value)} to {duration(self.last_value)}",
      *map(str, self[-4:]),
    )


COST_HEADINGS = (
  "model",
  "times",
  "q t to",
  "value",
  "gradient / value",
  "jvp / value",
  "value's rise",
  "gradient's rise",
)


def cost(
  structure: str,
  phases: int,
  times: str,
  seconds: Sequence[Mapping[str, float]],
) -> Cost:
  """Returns the cost by the seconds of calls.

  Args:
    structure: of the model.
    phases: how many there are.
    times: how many there are, of how many models.
    seconds: of the "value", the "gradient" and the "jvp" at 1, 2, 4, ...: at
      two of these or more.
  """

  def rise(name: str) -> Peak:
    return _peak(y[name] / x[name] for x, y in itertools.pairwise(seconds))

  return Cost(
    structure,
    phases,
    times,
    len(seconds) - 1,
    seconds[0]["value"],
    seconds[-1]["value"],
    _peak(x["gradient"] / x["value"] for x in seconds),
    _peak(x["jvp"] / x["value"] for x in seconds),
    rise("value"),
    rise("gradient"),
  )


def _peak(ratios: Iterable[float]) -> Peak:
  peaks = map(Peak, ratios, itertools.count())
  return max(peaks, key=lambda peak: peak.ratio)


def duration(seconds: float) -> str:
  """Returns three digits and a fitting unit."""
  for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
    if seconds * scale >= 1.0:
      return f"{seconds * scale:.3g} {unit}"
  return f"{seconds * 1e9:.3g} ns"


def number(x: float) -> str:
  """Returns three digits, without an exponent where there are more."""
  return f"{float(f'{x:.3g}'):g}"


def text_line(cells: Iterable[str]) -> str:
  """Returns cells in columns, for a terminal."""
  widths = (58, 10, 10, 42, 8)
  return " ".join(f"{c:{w}}" for c, w in zip(cells, widths)).rstrip()
