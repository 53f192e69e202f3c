"""Prints the installed packages and the interpreter, one a line, sorted.

Part of every Python test's inputs: a changed package re-runs the tests.
"""

import importlib.metadata
import platform


def main() -> None:
  lines = {
    f"{dist.metadata['Name'].lower()}=={dist.version}"
    for dist in importlib.metadata.distributions()
  }
  print(f"python=={platform.python_version()}")
  print("\n".join(sorted(lines)))


if __name__ == "__main__":
  main()
