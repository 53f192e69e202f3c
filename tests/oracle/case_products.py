"""Cases of a sweep: all combinations of values, or a subset."""

from collections.abc import Sequence
import itertools
from typing import Any


def product(every: int, **values: Sequence[Any]) -> list[dict[str, Any]]:
  """Returns parameters like `parameterized.product`.

  Args:
    every: of how many cases one is taken.
    **values: those of each parameter.

  Raises:
    ValueError: a value is in none of the cases taken.
  """
  cases = [
    dict(zip(values, case, strict=True))
    for case in itertools.product(*values.values())
  ]
  taken = cases[::every]
  for name, each in values.items():
    missing = [x for x in each if all(case[name] != x for case in taken)]
    if missing:
      raise ValueError(f"every {every}th of the cases leaves out {missing}")
  return taken
