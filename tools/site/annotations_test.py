"""Types as the source writes them."""

from __future__ import annotations

from collections import abc
import decimal
import typing
from typing import Generic, NamedTuple, TypeVar

from absl.testing import absltest
import numpy as onp

from tools.site import annotations as types_shown

SizeT = TypeVar("SizeT", bound=float)


class Base(Generic[SizeT]):
  """A base with fields."""

  best: abc.Sequence[SizeT]
  sizes: onp.ndarray


class Derived(Base[float]):
  """A class with fields of its own."""

  by_name: dict[str, decimal.Decimal | None]

  @property
  def size(self) -> decimal.Decimal | None:
    """None."""
    return None


class Pair(NamedTuple):
  """A tuple of two."""

  first: onp.ndarray
  second: int


class AnnotationsTest(absltest.TestCase):
  def test_modules_are_left_out(self):
    self.assertEqual(
      types_shown.without_modules(
        "(x: a_b.c2.Fit[T], y: np.ndarray = <factory>)"
      ),
      "(x: Fit[T], y: ndarray = ...)",
    )

  def test_types_are_those_of_the_source(self):
    types = {"best": "Sequence[SizeT]", "sizes": "ndarray"}
    types |= {"by_name": "dict[str, Decimal | None]"}
    self.assertEqual(types_shown.of_attributes(Derived), types)
    types = {"first": "ndarray", "second": "int"}
    self.assertEqual(types_shown.of_attributes(Pair), types)

  def test_properties_keep_their_types(self):
    size = vars(Derived)["size"]
    types_shown.keep_type(size)
    types_shown.keep_type(size)  # a class by now
    types_shown.keep_type("no property")
    kept = typing.get_type_hints(size.fget)["return"]
    self.assertEqual(kept.__qualname__, "Decimal | None")

  def test_types_that_a_page_explains(self):
    page = (
      "| type | is |\n| - | - |\n| `Array` | an `int` |\n| `Axes` | two |\n"
    )
    self.assertEqual(types_shown.explained(page), {"Array", "Axes"})


if __name__ == "__main__":
  absltest.main()
