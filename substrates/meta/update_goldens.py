"""Rewrites the golden files: `python substrates/meta/update_goldens.py`."""

from __future__ import annotations

import os
import sys

if __package__ in (None, ""):
  sys.path[0] = os.path.abspath(os.path.join(__file__, "..", "..", ".."))

from substrates.meta import goldens


def main() -> None:
  """Writes golden files that differ, and removes outdated ones."""
  old, new = goldens.expected(), goldens.actual()
  for name in sorted(old.keys() - new.keys()):
    (goldens.GOLDEN / f"{name}.txt").unlink()
    print(f"removed {name}")
  for name, text in sorted(new.items()):
    if old.get(name) != text:
      path = goldens.GOLDEN / f"{name}.txt"
      path.parent.mkdir(parents=True, exist_ok=True)
      path.write_text(text, encoding="utf-8")
      print(f"wrote {name}")


if __name__ == "__main__":
  main()
