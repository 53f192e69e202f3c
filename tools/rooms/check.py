"""Checks the rooms of phasic and of native code, and what is between them.

That is what shared tests need, what inference knows of distributions, and the
map of the rooms.

Prints each error as `file:line: message` and exits with 1 if there is one.

Usage: python -m tools.rooms.check [ROOT]
"""

import pathlib
import sys

from tools.rooms import asking
from tools.rooms import native_rooms
from tools.rooms import phasic_rooms
from tools.rooms import room_map
from tools.rooms import shared_tests


def main(argv: list[str]) -> int:
  """Prints the errors; returns the exit status."""
  root = pathlib.Path(argv[1] if len(argv) > 1 else ".")
  # Two checks read the table of phasic's rooms, and tell of its faults.
  errors = dict.fromkeys(
    error
    for check in (
      native_rooms.check,
      phasic_rooms.check,
      shared_tests.check,
      asking.check,
      room_map.check,
    )
    for error in check(root)
  )
  for error in errors:
    print(error)
  return int(bool(errors))


if __name__ == "__main__":
  sys.exit(main(sys.argv))
