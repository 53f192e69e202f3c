"""Compares two wheels byte for byte, and says which entries differ and how.

    python -m tools.wheel.compare FIRST.whl SECOND.whl

It exits with 0 if the bytes are the same, and else with 1.
"""

from collections.abc import Sequence
import hashlib
import pathlib
import sys
import zipfile


def differences(first: pathlib.Path, second: pathlib.Path) -> list[str]:
  """Lists what differs in two wheels; empty if the bytes are the same."""
  if first.read_bytes() == second.read_bytes():
    return []
  with zipfile.ZipFile(first) as one, zipfile.ZipFile(second) as two:
    entries, others = (
      {entry.filename: entry for entry in archive.infolist()}
      for archive in (one, two)
    )
    found = [f"{name}: only in one" for name in sorted({*entries} ^ {*others})]
    for name in sorted({*entries} & {*others}):
      if one.read(name) != two.read(name):
        found.append(f"{name}: other contents")
      elif _settings(entries[name]) != _settings(others[name]):
        found.append(
          f"{name}: {_settings(entries[name])} and {_settings(others[name])}"
        )
    if first.name != second.name:
      found.append(f"names: {first.name} and {second.name}")
    return found or ["the order of the entries, or their compression"]


def _settings(entry: zipfile.ZipInfo) -> str:
  mode = oct(entry.external_attr >> 16)
  return (
    f"time {entry.date_time}, mode {mode}, compression {entry.compress_type}"
  )


def main(arguments: Sequence[str]) -> int:
  """Runs the command line; returns the exit status."""
  first, second = map(pathlib.Path, arguments[1:])
  found = differences(first, second)
  if found:
    print("\n".join(["reproducible: the wheels differ:", *found]))
    return 1
  digest = hashlib.sha256(first.read_bytes()).hexdigest()
  print(f"reproducible: the same bytes twice, SHA-256 {digest}")
  return 0


if __name__ == "__main__":
  sys.exit(main(sys.argv))
