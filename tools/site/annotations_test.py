"""Types as the source writes them."""

from __future__ import annotations

import typing
from typing import Generic, NamedTuple, TypeVar

from absl.testing import absltest

from tools.site import annotations

SizeT = TypeVar("SizeT", bound=float)


class Base(Generic[SizeT]):
  """A base, whose annotations need not exist."""

  best: fits_lib.Fit[SizeT]  # noqa: F821
  sizes: onp.ndarray  # noqa: F821


class Derived(Base[float]):
  """A class with fields of its own."""

  by_name: dict[str, arrays.Array | None]  # noqa: F821

  @property
  def size(self) -> arrays.Array | None:  # noqa: F821
    """None."""


class Pair(NamedTuple):
  """A tuple of two."""

  first: onp.ndarray  # noqa: F821
  second: int


class AnnotationsTest(absltest.TestCase):
  def test_modules_are_left_out(self):
    self.assertEqual(
      annotations.without_modules(
        "(x: a_b.c2.Fit[T], y: np.ndarray = <factory>)"
      ),
      "(x: Fit[T], y: ndarray = ...)",
    )

  def test_types_are_those_of_the_source(self):
    self.assertEqual(
      annotations.of_attributes(Derived),
      {
        "best": "Fit[SizeT]",
        "sizes": "ndarray",
        "by_name": "dict[str, Array | None]",
      },
    )
    self.assertEqual(
      annotations.of_attributes(Pair), {"first": "ndarray", "second": "int"}
    )

  def test_properties_keep_their_types(self):
    annotations.keep_type(Derived.size)
    annotations.keep_type(Derived.size)  # a class by now
    annotations.keep_type("no property")
    kept = typing.get_type_hints(Derived.size.fget)["return"]
    self.assertEqual(kept.__qualname__, "Array | None")

  def test_attributes_get_types(self):
    lines = [
      *("A result.", "", "Attributes:", "  best: the best,", "    of all."),
      *("  other: no field.", "", "Example:", "  best: this is none."),
    ]
    found = annotations.add_types(lines, {"best": "Fit[SizeT]"})
    self.assertEqual(found[3], "  best (Fit[SizeT]): the best,")
    self.assertEqual(found[:3] + found[4:], lines[:3] + lines[4:])


if __name__ == "__main__":
  absltest.main()
