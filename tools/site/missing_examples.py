"""Lists public classes and functions whose docstrings have no example.

Examples run as tests (tests/shared/contract/doctest_test.py) and stand on the
pages of the reference. Exits with 1 if any is missing. The package has to be
installed:

    tools/run_installed.sh -m tools.site.missing_examples
"""

import collections
import sys

from tools.site import names


def missing(public: list[names.Name]) -> dict[str, list[str]]:
  """Returns the names without an example, by module and kind."""
  found = collections.defaultdict(list)
  for name in public:
    if name.kind != "data" and not name.examples:
      found[f"{name.module}: {name.kind}"].append(name.name)
  return dict(found)


def main() -> int:
  """Prints the names; returns the exit status."""
  public = names.public_names()
  found = missing(public)
  for group, listed in found.items():
    print(f"{group}: {len(listed)}")
    for name in listed:
      print(f"  {name}")
  count = sum(len(listed) for listed in found.values())
  total = sum(name.kind != "data" for name in public)
  print(f"{count} of {total} public classes and functions have no example")
  return int(count > 0)


if __name__ == "__main__":
  sys.exit(main())
