"""Runs cases of the campaign in this process.

    python -m tests.campaign.worker SUBSTRATE SEED FIRST COUNT [JUDGE...]

Prints a line of JSON before and after each case and before each call.
"""

from __future__ import annotations

from collections.abc import Callable
import json
import re
import sys
import traceback
from typing import Any

from tests.campaign import bindings
from tests.campaign import choices
from tests.campaign import exact
from tests.campaign import judges
from tests.campaign import memory
from tests.campaign import relations
from tests.campaign import scene as scene_lib
from tests.campaign import ways

ALL = {
  judge.__name__: judge
  for module in (judges, relations, ways, bindings, exact)
  for judge in module.JUDGES
}


# How long a case that failed is made smaller.
SHRINK_SECONDS = 20.0


def run_case(
  substrate: str,
  names: dict[str, Any],
  seed: int,
  number: int,
  only: list[str],
  say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
  """Returns what a case found: a row of the ledger.

  Args:
    substrate: its name.
    names: modules by name.
    seed: of the campaign.
    number: of the case.
    only: names of judges; all if there are none.
    say: takes each line before it is evaluated.
  """
  chosen = only or list(ALL)
  random = choices.Choices([61, seed, number])
  judge = chosen[random.integers(len(chosen))]

  def run(given: list[float] | None, tell: Callable[[str], None]) -> Any:
    made = choices.Choices([61, seed, number, 1], given)
    scene = scene_lib.Scene(substrate, names, made, tell)
    row: dict[str, Any] = {"number": number, "judge": judge}
    row |= _judged(ALL[judge], scene)
    return {**row, "calls": scene.calls, "results": scene.results}, scene

  row, scene = run(None, say)
  row["megabytes"] = memory.megabytes()
  if "fault" not in row:
    return row

  def fails(given: list[float]) -> list[float] | None:
    found, again = run(given, lambda _: None)
    same = _kind(found.get("fault", "")) == _kind(row["fault"])
    return again.draw.random.made if same else None

  made = choices.shrink(fails, scene.draw.random.made, SHRINK_SECONDS)
  smallest, scene = run(made, lambda _: None)
  return {**row, "smallest": [smallest.get("fault"), *scene.lines]}


def _judged(judge: Callable[[Any], None], scene: Any) -> dict[str, Any]:
  try:
    judge(scene)
  except scene_lib.Fault as fault:
    return {"fault": str(fault)}
  except scene_lib.Odd as odd:
    return {"odd": str(odd)}
  except scene_lib.Late:
    return {"fault": "it did not end"}
  except Exception as error:
    trace = traceback.format_exc(limit=-4)
    return {"fault": f"{type(error).__name__}: {error}", "trace": trace}
  return {}


def _kind(fault: str) -> str:
  """Returns a fault without its numbers."""
  return re.sub(r"-?[\d.]+(e[-+]?\d+)?|nan|inf", "#", fault)[:60]


def main(argv: list[str]) -> None:
  """Runs the cases."""
  substrate, seed, first, count, *only = argv
  if substrate == "jax":
    import jax

    jax.config.update("jax_enable_x64", True)
  names = scene_lib.modules(substrate)
  names["config"].set_work_limit(scene_lib.WORK_LIMIT)

  def say(**row: Any) -> None:
    print(json.dumps(row), flush=True)

  for number in range(int(first), int(first) + int(count)):
    say(begins=number)
    line = lambda text: say(line=text)
    say(**run_case(substrate, names, int(seed), number, only, line))


if __name__ == "__main__":
  main(sys.argv[1:])
