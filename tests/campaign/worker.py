"""Runs cases of the campaign in this process.

    python -m tests.campaign.worker SUBSTRATE SEED FIRST COUNT [JUDGE...]

Prints a line of JSON for each case, before and after it.
"""

from __future__ import annotations

import json
import sys
import traceback
from typing import Any

import numpy as np

from tests.campaign import exact
from tests.campaign import judges
from tests.campaign import relations
from tests.campaign import scene as scene_lib

ALL = {
  judge.__name__: judge
  for judge in (*judges.JUDGES, *relations.JUDGES, *exact.JUDGES)
}


def run_case(
  substrate: str, names: dict[str, Any], seed: int, number: int, only: list[str]
) -> dict[str, Any]:
  """Returns what a case found: a row of the ledger."""
  random = np.random.default_rng([61, seed, number])
  chosen = only or list(ALL)
  judge = chosen[int(random.integers(len(chosen)))]
  scene = scene_lib.Scene(substrate, names, random)
  row: dict[str, Any] = {"number": number, "judge": judge}
  try:
    ALL[judge](scene)
  except scene_lib.Fault as fault:
    row["fault"] = str(fault)
  except scene_lib.Odd as odd:
    row["odd"] = str(odd)
  except scene_lib.Late:
    row["fault"] = "it did not end"
  except Exception as error:
    row["fault"] = f"{type(error).__name__}: {error}"
    row["trace"] = traceback.format_exc(limit=-4)
  return {
    **row,
    "lines": scene.lines,
    "calls": scene.calls,
    "results": scene.results,
  }


def main(argv: list[str]) -> None:
  """Runs the cases."""
  substrate, seed, first, count, *only = argv
  if substrate == "jax":
    import jax

    jax.config.update("jax_enable_x64", True)
  names = scene_lib.modules(substrate)
  names["config"].set_work_limit(scene_lib.WORK_LIMIT)
  for number in range(int(first), int(first) + int(count)):
    print(json.dumps({"begins": number}), flush=True)
    print(
      json.dumps(run_case(substrate, names, int(seed), number, only)),
      flush=True,
    )


if __name__ == "__main__":
  main(sys.argv[1:])
