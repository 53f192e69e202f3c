"""Sweeps over cases: a part of each, or, in targets tagged "slow", all.

`BUILD` runs the files that use this twice, and sets the variable for the
target that runs every case.
"""

from collections.abc import Iterable, Sequence
import itertools
import os
from typing import Any

FULL = os.environ.get("PHASIC_FULL_SWEEPS") == "1"


def quick_and(quick: Iterable[Any], slow: Iterable[Any]) -> list[Any]:
  """Returns the quick cases, in a full sweep with the slow ones."""
  return [*quick, *(slow if FULL else ())]


def product(every: int, **values: Sequence[Any]) -> list[dict[str, Any]]:
  """Returns parameters as `parameterized.product` makes them.

  Args:
    every: of how many one is taken but in a full sweep.
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
  return cases if FULL else taken
