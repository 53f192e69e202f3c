"""Hostile values of every argument of every public call, in NumPy.

Each raises an error of phasic that names the argument, or is valid.
"""

from collections.abc import Callable, Iterator
import contextlib
import re
import traceback
from typing import Any
import warnings

from absl.testing import absltest
from absl.testing import parameterized
import matplotlib as mpl
from matplotlib import pyplot as plt
import numpy as onp

from tests.cross import valid_calls
from tests.cross import valid_calls_of_models

mpl.use("Agg")

OURS = (TypeError, ValueError, IndexError, NotImplementedError)
# Other names of arguments, in messages of the functions that get them.
ALIASES = {
  "causes": "cause",
  "parameter_names": "params",
  "primals": "an argument",
  "q": "value",
  "starts": "start",
  "states": "state",
  "tangents": "tangent",
  "text": "JSON",
  "times": "lower",
  "value": "lower",
  "x": "value",
}


def nothing(*_: Any, **__: Any) -> None:
  """Is a function whose result is wrong everywhere."""


# Values that are valid for no argument but those that take anything.
NEVER = {
  "bytes": b"1",
  "huge": 10**400,
  "complex": 1j,
  "complex array": onp.asarray([1.0, 2.0j]),
  "ragged": [[1], [1, 2]],
  "object": object(),
  "objects": [None, object()],
  "texts": onp.asarray(["a", "b"]),
}
# Values that are valid for some.
SOMETIMES = {
  "none": None,
  "float": 3.0,
  "negative": -1,
  "text": "x",
  "nan": float("nan"),
  "mask": onp.asarray([True, False]),
  "mapping": {},
}
# Hostile values that are valid: seeds are taken modulo 2^64, and numbers of
# phases that a plot may show have no limit.
VALID = {("seed", "huge"), ("max_phases", "huge")}
GROUPS: dict[str, Callable[[], Iterator[valid_calls.Call]]] = {
  name: getattr(module, name)
  for module, names in (
    (valid_calls, ("constructors", "methods", "functions", "mathematics")),
    (
      valid_calls_of_models,
      (
        *("graphs", "transformations", "models", "observations", "fits"),
        *("plots", "covariates", "others"),
      ),
    ),
  )
  for name in names
}


def problem(
  call: valid_calls.Call, argument: str, kind: str, value: Any
) -> str | None:
  """Returns what is wrong with how a call takes a value, or None."""
  given = call.arguments[argument]
  by_position = {"index": (value,)} if argument == "index" else None
  try:
    if by_position:
      call.function(value)
    else:
      call.function(**{**call.arguments, argument: value})
  except OURS as error:
    inner = traceback.extract_tb(error.__traceback__)[-1].filename
    names = f"{argument}|{ALIASES.get(argument, argument)}"
    if argument in call.free or (value is None and given is None):
      return None
    if "/phasic/substrates/" not in inner:
      return f"raises outside of phasic: {error}"
    if isinstance(error, NotImplementedError):
      return None  # Some families have no such method.
    if not re.search(rf"\b({names})\b", str(error)):
      return f"raises without the argument's name: {error}"
    return None
  except Exception as error:
    wrong = f"raises {type(error).__name__}: {error}"
    return None if argument in call.free else wrong
  if argument in call.free or (argument, kind) in VALID:
    return None
  if kind in NEVER:
    return "is taken"
  if isinstance(given, bool) and not (
    value is None and argument in ("discrete", "progress")
  ):
    return "is taken for a flag"
  if callable(given) and not isinstance(given, type):
    return "is taken for a function"
  return None


class ArgumentRulesTest(parameterized.TestCase):
  """Tests one rule for each kind of argument, everywhere."""

  @parameterized.parameters(*GROUPS)
  def test_hostile_values(self, group):
    self.addCleanup(plt.close, "all")
    found = []
    with warnings.catch_warnings():
      warnings.simplefilter("ignore")
      for call in GROUPS[group]():
        for argument in call.arguments:
          for kind, value in (NEVER | SOMETIMES).items():
            what = problem(call, argument, kind, value)
            if what is not None:
              found.append(f"{call}({argument}={kind}) {what}")
          plt.close("all")
    self.assertEqual(found, [])

  @parameterized.parameters(*GROUPS)
  def test_calls_are_valid(self, group):
    with warnings.catch_warnings():
      warnings.simplefilter("ignore")
      for call in GROUPS[group]():
        with self.subTest(str(call)):
          if "index" in call.arguments:
            call.function(call.arguments["index"])
            continue
          # Some families have no such method.
          with contextlib.suppress(NotImplementedError):
            call.function(**call.arguments)
    plt.close("all")

  def test_functions_are_called(self):
    # Errors of a user's function are the user's; a wrong result is named.
    data = valid_calls_of_models.comparisons.in_numpy.inference
    with self.assertRaisesRegex(ZeroDivisionError, "division"):
      data.maximize(lambda x: 1 / 0, 1.0)
    with self.assertRaisesRegex(TypeError, r"start\(1\) is NoneType: it must"):
      data.choose_num_phases(nothing, data.Observations([1.0]), (1,))


if __name__ == "__main__":
  absltest.main()
