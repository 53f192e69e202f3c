"""Counts what should be few in the kernel; `make lint` fails if there are more.

    python -m tools.spine

A method of the kernel (squaring, many times, small models, models in lanes) should be chosen in
one place, and the rest of the kernel should not know it. What is counted:

- files outside of `choice` that compare costs of methods, or have a bound from which one is
  used;
- includes of a method by a file that is part of none;
- files that walk down over the Poisson weights of blocks.

Whoever lowers a number lowers its limit.
"""

from collections.abc import Iterator
import pathlib
import re
import sys

# Today's numbers.
LIMITS = {"choices": 0, "includes": 0, "walks": 3}

_KERNEL = "native/kernel"
_CHOICE = re.compile(
  r"\b(\w*Costs?(OfDerivatives)?\(|MaySquare\(|kManyTimes\b|kLeastSquaringX\b|"
  r"kSmall(Phases|Edges|Parameters)\b)"
)
# Where methods are chosen, a limit on work is kept, and sizes are declared, and
# are those of arrays.
_CHOOSES = (
  "choice/",
  "runtime/work_limit.",
  "api/sweep.h",
  "methods/small_models/",
)
_INCLUDE = re.compile(r'^#include "native/kernel/methods/', re.MULTILINE)
_WALK = re.compile(r"\bwalk_?(->|\.)Down\(|\blast_inverse\b")
# Where the weights are computed.
_NO_WALK = ("poisson.h",)


def sources(root: pathlib.Path) -> Iterator[tuple[str, str]]:
  """Yields the kernel's files without tests: path in it, and text."""
  kernel = root / _KERNEL
  for path in sorted(kernel.rglob("*")):
    name = path.relative_to(kernel).as_posix()
    is_test = path.name.startswith("test_") or "_test." in path.name
    if path.suffix in (".h", ".cc") and not is_test and "fuzz/" not in name:
      yield name, path.read_text()


def found(root: pathlib.Path) -> dict[str, list[str]]:
  """Returns what is counted: for each kind a line for each file or include."""
  result: dict[str, list[str]] = {kind: [] for kind in LIMITS}
  for name, text in sources(root):
    if _CHOICE.search(text) and not name.startswith(_CHOOSES):
      result["choices"].append(name)
    if not name.startswith(("methods/", "builds/")):
      result["includes"] += [name] * len(_INCLUDE.findall(text))
    if _WALK.search(text) and pathlib.Path(name).name not in _NO_WALK:
      result["walks"].append(name)
  return result


def main(root: pathlib.Path) -> int:
  """Prints what is above its limit, or well below it."""
  status = 0
  for kind, lines in found(root).items():
    if len(lines) == LIMITS[kind]:
      continue
    status = 1
    listed = "\n  ".join(lines)
    print(
      f"{kind}: {len(lines)}, the limit in tools/spine.py is {LIMITS[kind]}:"
      f"\n  {listed}"
    )
  return status


if __name__ == "__main__":
  sys.exit(main(pathlib.Path.cwd()))
