"""Writes the file of all public names anew: `python -m tools.update_public_names`.

It imports the three packages, made from the sources as they are now.
"""

import importlib
import pathlib
import sys

from substrates.meta import generate_tree

_GOLDEN = pathlib.Path("tests/cross/public_names.txt")
_TREE = pathlib.Path(".build/public_names")


def main() -> int:
  """Runs the command line; returns the exit status."""
  if generate_tree.main([f"--outputs_root={_TREE}"]):
    return 1
  # Before the sources of the same names.
  sys.path.insert(0, str(_TREE.resolve()))
  public_names = importlib.import_module("tests.cross.public_names")
  _GOLDEN.write_text(public_names.text(), encoding="utf-8")
  return 0


if __name__ == "__main__":
  sys.exit(main())
