"""One case of the campaign: expressions, their values, and what holds of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
import importlib
import linecache
import signal
import time
import types
from typing import Any, NamedTuple
import warnings

import numpy as np

from tests.campaign import choices
from tests.campaign import draws
from tests.campaign import laws

# Modules by the names that expressions use.
_MODULES = {
  "pd": "distributions",
  "pg": "graphs",
  "pm": "math",
  "inference": "inference",
  "config": "config",
  "binding": "binding",
}
_EXCEPTIONS = (
  TypeError,
  ValueError,
  IndexError,
  NotImplementedError,
  MemoryError,
)
# Calls whose results differ between substrates: the last digits of a slope decide
# where a search ends.
_OWN_VALUES = ("sample", "fit.")
# How many values of a result are kept.
_NOTED = 8
# A call may take four times the limit on work that the campaign sets.
WORK_LIMIT = 2.0
_MOST_SECONDS = {"numpy": 8.0, "jax": 40.0, "tf": 40.0}  # With compilation.


class Fault(Exception):
  """What the library did wrong."""


class Odd(Exception):
  """The library says that what was drawn is not a valid model, which ends a case."""


class Late(BaseException):
  """A call took too long."""


class Refusal(NamedTuple):
  """An exception that a call raised, as it may."""

  type: str
  message: str


def modules(substrate: str) -> dict[str, types.ModuleType]:
  """Returns the modules of a substrate by their names in expressions."""
  base = f"phasic.substrates.{substrate}"
  return {
    short: importlib.import_module(f"{base}.{name}")
    for short, name in _MODULES.items()
  } | {"ph": importlib.import_module(base)}


class Scene:
  """Evaluates expressions, and checks each call.

  Attributes:
    draw: draws numbers and arrays.
    laws: draws distributions.
    substrate: its name.
    lines: the expressions so far, as a script.
    calls: how many calls were judged.
    results: some values, which should be those of other substrates.
  """

  def __init__(
    self,
    substrate: str,
    names: dict[str, Any],
    random: choices.Choices,
    say: Callable[[str], None] = lambda _: None,
  ) -> None:
    self.draw = draws.Draw(random)
    self._say = say
    self.laws = laws.Laws(self.draw)
    self.substrate = substrate
    self.lines: list[str] = []
    self.calls = 0
    self.results: list[float] = []
    self._names = {**draws.NAMES, **names}

  def let(self, name: str, text: str) -> Any:
    """Evaluates an expression of valid arguments, and names its value."""
    self._add(f"{name} = {text}")
    with self._watched() as caught:
      self._names[name] = eval(text, self._names)
    _refuse([x for x in caught if _is_foreign(x)], "it warns")
    if caught:
      raise Odd(caught[0])
    return self._names[name]

  def named(self, name: str) -> Any:
    """Returns the value of a name."""
    return self._names[name]

  def value(self, text: str) -> np.ndarray:
    """Calls with valid arguments: no exception, no NaN without a word.

    Args:
      text: an expression of names so far.

    Returns:
      The value. NaN that a warning announced is there.
    """
    found, caught = self._evaluated(text)
    arrays = leaves(found)
    # NaN is announced, and what is announced is NaN.
    has_nan = any(np.isnan(x).any() for x in arrays)
    about = [w for w in caught if " is NaN" in w or "are NaN" in w]
    _refuse(
      [w for w in caught if w not in about and "must" not in w], "it warns"
    )
    if has_nan and not caught and not self._is_odd(text):
      raise Fault("NaN without a word")
    if about and not has_nan:
      raise Fault(f"it warns of a finite result: {about[0]}")
    if not any(x in text for x in _OWN_VALUES):
      self._note(arrays)
    return arrays[0] if len(arrays) == 1 else np.asarray(found, object)

  def hostile(self, text: str) -> Any:
    """Calls with any arguments: a value, or an exception that is explained."""
    try:
      found, caught = self._evaluated(text)
      _refuse([w for w in caught if "encountered in" in w], "it warns")
      return found
    except _EXCEPTIONS as error:
      _check_message(error)
      return Refusal(type(error).__name__, str(error))

  @contextlib.contextmanager
  def at(self, seconds: float) -> Iterator[None]:
    """Ends what takes longer with `Late`."""

    def end(*_: Any) -> None:
      raise Late

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
      yield
    finally:
      signal.setitimer(signal.ITIMER_REAL, 0.0)
      signal.signal(signal.SIGALRM, before)

  @contextlib.contextmanager
  def _watched(self) -> Iterator[list[str]]:
    """Yields the list of texts of warnings, filled at the end."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
      warnings.simplefilter("always")
      with self.at(60.0):
        yield texts
    texts += [
      str(w.message) for w in caught if issubclass(w.category, RuntimeWarning)
    ]

  def _evaluated(self, text: str) -> tuple[Any, list[str]]:
    self._add(text)
    self.calls += 1
    began = time.process_time()
    with self._watched() as caught:
      found = eval(text, self._names)
    took = time.process_time() - began
    if took > _MOST_SECONDS[self.substrate]:
      raise Fault(f"it took {took:.0f} s")
    return found, caught

  def _is_odd(self, text: str) -> bool:
    """Returns whether an argument has NaN."""
    lines = [text, *(x for x in self.lines if x.startswith(("t = ", "p = ")))]
    return any("nan" in x for x in lines)

  def _add(self, line: str) -> None:
    self._say(line)
    self.lines.append(line)

  def _note(self, arrays: list[np.ndarray]) -> None:
    self.results += [float(x) for y in arrays for x in y.flat[:_NOTED]]


def leaves(found: Any) -> list[np.ndarray]:
  """Returns the float arrays of a result."""
  if isinstance(found, (tuple, list)):
    return [x for part in found for x in leaves(part)]
  if hasattr(found, "dtype") and hasattr(found, "shape"):
    if hasattr(found, "log_prob"):
      return []
    array = np.asarray(found)
    return [array] if array.dtype.kind == "f" else []
  return [np.asarray(found)] if isinstance(found, float) else []


def _is_foreign(warning: str) -> bool:
  """Returns whether a warning is not the library's."""
  return not any(x in warning for x in (" NaN", "must be", "sum to", "is inf"))


def _refuse(caught: list[str], what: str) -> None:
  if caught:
    raise Fault(f"{what}: {caught[0]}")


def _check_message(error: BaseException) -> None:
  """Raises a fault unless the library raised the exception on purpose."""
  trace = error.__traceback__
  frames = []
  while trace is not None:
    frames.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
    trace = trace.tb_next
  file, line = frames[-1]
  if len(frames) <= 3 or file == "<string>":
    return  # Of a call with too many arguments, or of the caller's function.
  raised = linecache.getline(file, line).lstrip().startswith("raise")
  if "/phasic/" not in file or not raised:
    raise Fault(f"{type(error).__name__} that is not the library's: {error}")
  if not str(error):
    raise Fault(f"{type(error).__name__} without a message")
