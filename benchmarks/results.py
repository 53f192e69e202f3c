"""What a run finds, and how it is written as text."""

from typing import NamedTuple

import numpy as onp

# Floors of speed are for AVX-512; elsewhere this share of them is asked for.
NARROW_SHARE = 0.7
# What a measured exponent may be above the order.
ORDER_TOLERANCE = 0.2


class Row(NamedTuple):
  """One line of the table.

  Attributes:
    what: is measured.
    ours: phasic's figure, with its unit.
    reference: the other figure, with its unit.
    ratio: of the two; in percent where `unit` is " %".
    unit: of the ratio, the floor and the goal: "x" or " %".
    floor: what is asked for, and None where nothing is.
    goal: what is aimed at.
    at_most: whether the ratio is to be small.
    reference_name: what the reference is.
  """

  what: str
  ours: str
  reference: str
  ratio: float
  unit: str = "x"
  floor: float | None = None
  goal: float | None = None
  at_most: bool = False
  reference_name: str = ""

  def for_vectors(self, doubles: int) -> "Row":
    """The row with the floor that holds for vectors of so many doubles."""
    if self.floor is None or self.at_most or doubles >= 8:
      return self
    return self._replace(floor=NARROW_SHARE * self.floor)

  def meets(self, bound: float | None) -> bool:
    """Whether the ratio is on the right side of `bound`."""
    if bound is None:
      return False
    return self.ratio <= bound if self.at_most else self.ratio >= bound

  def verdict(self) -> str:
    """`goal`, `floor` or `no`; empty where nothing is asked for."""
    if self.floor is None:
      return ""
    if self.meets(self.goal):
      return "goal"
    return "floor" if self.meets(self.floor) else "no"

  def cells(self) -> tuple[str, ...]:
    """The line's texts, in the order of HEADINGS."""

    def bound(x):
      return "" if x is None else f"{x:.3g}{self.unit}"

    return (
      self.what,
      self.ours,
      self.reference,
      self.reference_name,
      bound(self.ratio),
      bound(self.floor),
      bound(self.goal),
      self.verdict(),
    )


HEADINGS = (
  "what",
  "phasic",
  "reference",
  "which is",
  "ratio",
  "floor",
  "goal",
  "met",
)


class Curve(NamedTuple):
  """Cost against one size, which is doubled.

  Attributes:
    size: its letter.
    meaning: of the letter.
    order: the largest exponent there should be.
    sizes: of the models.
    seconds: of one value and gradient.
  """

  size: str
  meaning: str
  order: float
  sizes: tuple[int, ...]
  seconds: tuple[float, ...]

  def exponent(self) -> float:
    """The slope over the last two doublings, both axes logarithmic."""
    tail = slice(-3, None)
    x, y = onp.log(self.sizes[tail]), onp.log(self.seconds[tail])
    return float(onp.polyfit(x, y, 1)[0])

  def cells(self) -> tuple[str, ...]:
    """The line's texts, in the order of CURVE_HEADINGS."""
    exponent = self.exponent()
    return (
      self.size,
      self.meaning,
      ", ".join(str(size) for size in self.sizes),
      ", ".join(duration(x) for x in self.seconds),
      f"{exponent:.2f}",
      f"{self.order:g}",
      "yes" if exponent <= self.order + ORDER_TOLERANCE else "no",
    )


CURVE_HEADINGS = (
  "size",
  "which is",
  "sizes",
  "cost",
  "exponent",
  "order",
  "met",
)


class Report(NamedTuple):
  """All of a run.

  Attributes:
    facts: what the figures hold for: machine, versions, ...
    rows: of the table.
    curves: of the plots.
  """

  facts: dict[str, str]
  rows: tuple[Row, ...]
  curves: tuple[Curve, ...]


def duration(seconds: float) -> str:
  """Three digits and a fitting unit."""
  for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
    if seconds * scale >= 1.0:
      return f"{seconds * scale:.3g} {unit}"
  return f"{seconds * 1e9:.3g} ns"


def text_line(cells: tuple[str, ...]) -> str:
  """Cells in columns, for a terminal."""
  widths = (52, 10, 10, 30, 8, 8, 8, 5)
  return " ".join(f"{c:{w}}" for c, w in zip(cells, widths)).rstrip()
