"""Checks the rooms of phasic and of native code, and writes their tables.

It checks as well what inference knows of distributions. Prints each error as
`file:line: message` and exits with 1 if there is one.

Usage: python -m tools.rooms.check [--write] [ROOT]
"""

import argparse
import pathlib
import sys

from tools.rooms import asking
from tools.rooms import order
from tools.rooms import tables


def main(argv: list[str]) -> int:
  """Prints the errors; returns the exit status."""
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("--write", action="store_true", help="write the tables")
  parser.add_argument("root", nargs="?", default=".", type=pathlib.Path)
  arguments = parser.parse_args(argv[1:])
  root = arguments.root
  errors = [
    *order.check(root),
    *tables.check(root, arguments.write),
    *asking.check(root),
  ]
  for error in errors:
    print(error)
  return int(bool(errors))


if __name__ == "__main__":
  sys.exit(main(sys.argv))
