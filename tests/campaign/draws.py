"""Random arguments, as Python expressions, so that each call can be printed.

Names in the expressions are those of `NAMES`, and modules of the library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from typing import Any

import numpy as np

from tests.campaign import choices
from tests.campaign import objects

# What expressions may use besides the library's modules.
NAMES = {
  "np": np,
  "math": math,
  "inf": math.inf,
  "nan": math.nan,
  "objects": objects,
}

_ODD_TIMES = (
  *(0.0, -0.0, 5e-324, 1e-310, 1e-300, 1e17, 1e300, 1.7e308),
  *(-1.0, -1e-300, math.inf, -math.inf, math.nan),
)
# Things that are no numbers, and arrays that few functions take.
_HOSTILE = (
  *("None", "'1'", "b'1'", "True", "object()", "...", "{}", "[]", "()", "[[]]"),
  *("[[1.0], [1.0, 2.0]]", "np.asarray(['a', 'b'])", "np.asarray([None, 1.0])"),
  *("1j", "np.asarray([1.0 + 1.0j])", "10**400", "-1", "0", "2**63", "1e-320"),
  *(
    "nan",
    "inf",
    "-inf",
    "[nan, 1.0]",
    "[-1.0]",
    "[inf]",
    "lambda: 1",
    "lambda x: None",
  ),
  *(
    "np.ones((2, 3, 4))",
    "np.ones(0)",
    "np.ones((0, 2))",
    "np.ones((3, 0, 1))",
  ),
  *("np.ones(2, 'float16')", "np.ones(2, 'float32')", "np.ones(3, '>f8')"),
  *("np.ones(3, 'int8')", "np.ones(3, 'bool')", "np.ones(3, 'datetime64[s]')"),
  *("np.ma.masked_array([1.0, 2.0], [True, False])", "np.ones(3, object)"),
  *("np.broadcast_to(1.0, (3,))", "np.ones(6)[::2]", "objects.read_only()"),
  *("objects.sparse('csr')", "objects.sparse('coo')", "objects.Lying()"),
  *(
    "iter([1.0])",
    "range(3)",
    "{1.0}",
    "'' ",
    "np.float64(0.5)",
    "np.ones(99999)",
  ),
)


class Draw:
  """Draws expressions from a generator.

  Attributes:
    random: the numbers that it draws from.
    most: the largest number of phases.
  """

  def __init__(self, random: choices.Choices, most: int = 30) -> None:
    self.random = random
    self.most = most

  def one_of(self, options: Sequence[Any]) -> Any:
    """Returns one of the options."""
    return options[self.random.integers(len(options))]

  def call(self, *options: Callable[[], str]) -> str:
    """Returns what one of the functions draws."""
    return str(self.one_of(options)())

  def is_likely(self, probability: float) -> bool:
    """Returns whether an event of a probability happens."""
    return bool(self.random.random() >= 1.0 - probability)

  def size(self, most: int = 6, least: int = 1) -> int:
    """Returns a size, which is small as a rule."""
    return int(
      self.random.integers(least, max(least, min(most, self.most)) + 1)
    )

  def integer(self, low: int, high: int) -> str:
    """Draws an integer of low to high."""
    return str(int(self.random.integers(low, high + 1)))

  def number(self, low: float, high: float) -> str:
    """Draws a number of a few digits."""
    return f"{self.random.uniform(low, high):.4g}"

  def rate(self) -> str:
    """Draws a positive number, of ordinary size as a rule."""
    return repr(self._rates(1)[0])

  def rates(self, count: int, zeros: float = 0.0) -> str:
    """Draws a list of rates, some of which may be zero."""
    found = self._rates(count)
    return repr([0.0 if self.is_likely(zeros) else x for x in found])

  def probs(self, count: int) -> str:
    """Draws a list of probabilities, which may have zeros."""
    found = self.random.probs(count)
    if count > 1 and self.is_likely(0.2):
      found[self.random.integers(count)] = 0.0
      found /= found.sum()
    return repr([float(x) for x in found])

  def prob(self) -> str:
    """Draws a probability, which may be zero, one or next to them."""
    if self.is_likely(0.7):
      return self.number(0.01, 0.99)
    return str(self.one_of(("0.0", "1.0", "1e-12", "1e-300", "1.0 - 1e-12")))

  def times(self, discrete: bool = False) -> str:
    """Draws a value or a list of values: ordinary ones, far ones and odd ones."""
    kind = self.random.integers(8)
    if kind == 0:
      return repr(self._time(discrete, 0))
    if kind == 1:
      shape = self.one_of(((0,), (2, 0), (2, 1), (3, 1, 2)))
      count = math.prod(shape)
      values = [self._time(discrete, 0) for _ in range(count)]
      return f"np.reshape({values!r}, {shape})"
    if kind == 2 and self.most > 6:
      return (
        "np.arange(1.0, 3001.0)" if discrete else "np.linspace(0.0, 9.0, 3001)"
      )
    count = self.size(5)
    odd = 0.0 if kind < 6 else 0.4
    return repr([self._time(discrete, odd) for _ in range(count)])

  def hostile(self) -> str:
    """Draws what few functions take."""
    if self.is_likely(0.15):
      return repr([self._odd() for _ in range(self.size(3))])
    return str(self.one_of(_HOSTILE))

  def array(self, text: str) -> str:
    """Returns an expression of an array with these numbers, of some layout."""
    kind = self.random.integers(10)
    if kind <= 1:
      return f"np.asarray({text}, '>f8')"
    if kind == 2:
      return f"objects.strided({text})"
    if kind == 3:
      return f"objects.read_only({text})"
    return text if kind < 7 else f"np.asarray({text})"

  def _rates(self, count: int) -> list[float]:
    kind = self.random.integers(8)
    if kind < 5:
      found = self.random.uniforms(0.1, 3.0, count)
    elif kind == 5:
      found = 10.0 ** self.random.uniforms(-3.0, 3.0, count)
    elif kind == 6:
      unit = 10.0 ** self.random.uniform(-20.0, 20.0)
      found = unit * self.random.uniforms(0.5, 2.0, count)
    else:
      found = 10.0 ** self.random.uniforms(-12.0, 12.0, count)
    if self.is_likely(0.1):  # Equal ones.
      found[:] = found[0] if count else 0.0
    return [float(f"{x:.4g}") for x in found]

  def _odd(self) -> float:
    return float(self.one_of(_ODD_TIMES))

  def _time(self, discrete: bool, odd: float) -> float:
    if self.is_likely(odd):
      return self._odd()
    kind = self.random.integers(4)
    if kind < 3:
      found = self.random.uniform(0.0, 6.0)
    else:
      found = 10.0 ** self.random.uniform(-9.0, 4.0)
    return math.floor(found) * 1.0 if discrete else float(f"{found:.5g}")
