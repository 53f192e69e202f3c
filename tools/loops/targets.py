"""Chooses the tests of changed files from the graph of Bazel's targets.

How far a test is from a file is the number of libraries between them: 0 is a test
that has the file among its sources or data, 1 one that names the file's library,
2 one that names a library right above it.
"""

import collections
import heapq
import pathlib
import xml.etree.ElementTree as ET

# They test everything in one, so that nearly any change reaches them.
WHOLE_HOUSE = (
  "//tests/wheel",
  "//tests/documents",
  "//examples",
  "//tests:shared/contract/doctests.",
)

# How many seconds the longest tests take where no report tells it, as in a new
# clone.
LONG = {
  "//tests:shared/conformance/conformance_tests.numpy": 300.0,
  "//tests:shared/contract/accuracy_tests.numpy": 40.0,
  "//tests:shared/contract/distribution_tests.numpy": 60.0,
  "//tests:shared/inference/inference_tests.numpy": 120.0,
  "//tests/wheel:example_test": 60.0,
  "//tests/wheel:wheel_test": 60.0,
}

# Tests that try what all others have, too, as one library: the start of their
# labels, by folder.
_TRIED_BY = {
  "native/elimination/": "//tests:shared/moments/moment_tests.numpy",
  "native/kernel/": "//tests:shared/kernel/value_tests.numpy",
  "native/python/": "//tests:shared/kernel/value_tests.numpy",
  "native/quantiles/": "//tests:shared/sampling/sampling_tests.numpy",
  "native/tf/": "//tests/tf/kernel:",
  "native/xla/": "//tests/jax/kernel:",
  "substrates/meta/": "//substrates/meta:",
}
_NUMPY = "//tests/numpy:"
_OTHERS = (".jax", ".tf")
_OTHER_SEAMS = ("substrates/jax/", "substrates/tf/")
_ABOVE = 2  # how far a test may be that `make quick` runs


class Graph:
  """Targets and those that depend on them.

  Attributes:
    rules: the labels of all rules.
    slow: the tests that `make test-slow` runs.
  """

  def __init__(self, text: bytes):
    """Reads what `bazel query --output=xml` prints."""
    self.rules: list[str] = []
    self.slow: set[str] = set()
    self._tests: set[str] = set()
    self._libraries: set[str] = set()
    self._dependents: dict[str, list[str]] = collections.defaultdict(list)
    for rule in ET.fromstring(text).iter("rule"):
      label, kind = rule.attrib["name"], rule.attrib["class"]
      self.rules.append(label)
      for source in rule.iter("rule-input"):
        self._dependents[source.attrib["name"]].append(label)
      for output in rule.iter("rule-output"):
        self._dependents[label].append(output.attrib["name"])
      tags = {tag.get("value") for tag in rule.findall("list[@name='tags']/*")}
      if kind.endswith("_test"):
        (self.slow if tags & {"slow", "skip"} else self._tests).add(label)
      elif kind != "genrule":  # A rewritten file is as near as its source.
        self._libraries.add(label)

  def of_package(self, package: str) -> dict[str, int]:
    """Returns the rules of a package, all as far as a library of a file."""
    start = f"//{package}:"
    return {label: 1 for label in self.rules if label.startswith(start)}

  def of_file(self, file: str, package: str) -> dict[str, int]:
    """Returns the target that a file of a package is, or {} if no rule has it."""
    label = f"//{package}:{file.removeprefix(package).lstrip('/')}"
    return {label: 0} if label in self._dependents else {}

  def reached(self, starts: dict[str, int]) -> dict[str, int]:
    """Returns the tests that depend on targets, and how far they are.

    Args:
      starts: {label: distance} of the targets.
    """
    found: dict[str, int] = {}
    pending = [(distance, label) for label, distance in starts.items()]
    heapq.heapify(pending)
    while pending:
      distance, label = heapq.heappop(pending)
      if label not in found:
        found[label] = distance
        for other in self._dependents.get(label, ()):
          heapq.heappush(
            pending, (distance + (other in self._libraries), other)
          )
    tests = self._tests | self.slow
    return {label: found[label] for label in found.keys() & tests}


def is_whole_house(label: str) -> bool:
  """Returns whether nearly any change reaches a test."""
  return label.startswith(WHOLE_HOUSE)


def near(file: str, reached: dict[str, int]) -> dict[str, int]:
  """Returns the tests near to a file, and their ranks; 0 is the file's own.

  They are those of NumPy where it reaches one, except for the seams of the other
  substrates. Of native code they are the C++ tests that are nearest, and those in
  Python that try it. One of everything is near where nothing is nearer.

  Args:
    file: a path below the root.
    reached: {label: distance} of the tests that depend on it.
  """
  starts = tuple(x for key, x in _TRIED_BY.items() if file.startswith(key))
  ranks = {label: 1 for label in reached if label.startswith(starts)}
  if file.startswith("native/"):
    pool = {x for x in reached if x.startswith("//native:")}
    limit = 0
  else:
    own = {x for x in reached if not reached[x] and not x.endswith(_OTHERS)}
    ranks |= dict.fromkeys(own, 0)
    least = min(reached.values(), default=0)
    pool = {
      x for x, n in reached.items() if n == least or not is_whole_house(x)
    }
    numpy = {x for x in pool if x.startswith(_NUMPY) or x.endswith(".numpy")}
    if not file.startswith(_OTHER_SEAMS):
      pool = numpy or pool
    limit = _ABOVE
  limit = max(limit, min((reached[x] for x in pool), default=0))
  # Tests of a room may name a higher one; their folder has its name.
  folder = f"/{pathlib.PurePosixPath(file).parent.name}/"
  for label in pool:
    if reached[label] <= limit:
      ranks.setdefault(label, max(2 * reached[label] - (folder in label), 0))
  return ranks


def within(
  ranks: dict[str, int], seconds: dict[str, float], budget: float
) -> tuple[list[str], list[str]]:
  """Returns the tests whose seconds fit into a budget, and the others.

  Tests of a low rank come first, of one rank the shorter ones. Those of rank 0
  are chosen whatever they cost; without one, so is the first.

  Args:
    ranks: {label: rank}.
    seconds: {label: time}; an unknown one takes what `LONG` says, or the median.
    budget: how many seconds all may take together.
  """
  known = sorted(seconds.values())
  default = known[len(known) // 2] if known else 0.0

  def cost(label: str) -> float:
    return seconds.get(label, LONG.get(label, default))

  chosen: list[str] = []
  left: list[str] = []
  spent = 0.0
  for label in sorted(ranks, key=lambda x: (ranks[x], cost(x), x)):
    if ranks[label] == 0 or not chosen or spent + cost(label) <= budget:
      chosen.append(label)
      spent += cost(label)
    else:
      left.append(label)
  return chosen, left
