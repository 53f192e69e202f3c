"""Sweeps over cases: a part of each, or, in targets tagged "slow", all.

`BUILD` runs the files that use this twice, and sets the variable for the
target that runs every case.
"""

from collections.abc import Iterable, Sequence
import os
from typing import Any

from tests.oracle import case_products

FULL = os.environ.get("PHASIC_FULL_SWEEPS") == "1"


def quick_and(quick: Iterable[Any], slow: Iterable[Any]) -> list[Any]:
  """Returns the quick cases, in a full sweep with the slow ones."""
  return [*quick, *(slow if FULL else ())]


def product(every: int, **values: Sequence[Any]) -> list[dict[str, Any]]:
  """Returns every n-th of all combinations, in a full sweep all of them."""
  return case_products.product(1 if FULL else every, **values)
