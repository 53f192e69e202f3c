"""The parts of `kernel_ops` that need no array library.

This file is copied into each substrate, so each has a separate choice of the
path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
import operator
import os
import types
from typing import TypedDict, TypeVar

import numpy as onp

from phasic.internal import native_module
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import user_warnings

# The kinds of functions. Their order must be the order of the enum in
# native/kernel/api/phase_type.h.
KINDS = (
  "log_density",
  "density",
  "log_survival",
  "survival",
  "log_cdf",
  "cdf",
)
# The forms in which probabilities are specified. Their order must be the order
# of the enum in native/quantiles/quantiles.h.
FORMS = ("cdf", "log_cdf", "log_survival", "folded")
PATHS = ("auto", "kernel", "portable")
EDGES_ARE_FIXED = (
  "a derivative with respect to coefficients or constants of edges was asked "
  "for: they are fixed; compute the rates of the edges beforehand, and pass "
  "them as parameters without coefficients"
)
# The approximate speed of one core. It converts limits on work from seconds to
# numbers of multiply-adds.
MULTIPLY_ADDS_PER_SECOND = 1e11 / 60.0
load = native_module.load
_T = TypeVar("_T")


@functools.cache
def required() -> bool | None:
  """Returns whether PHASIC_REQUIRE_KERNEL makes a missing kernel an error.

  True means that calls raise, False the portable path, and None the portable
  path after a warning at the import of the substrate.

  Raises:
    ValueError: PHASIC_REQUIRE_KERNEL is neither 0 nor 1.
  """
  text = os.environ.get("PHASIC_REQUIRE_KERNEL", "")  # noqa: TID251  (compared)
  if text not in ("", "0", "1"):
    raise ValueError(
      f"PHASIC_REQUIRE_KERNEL is {raw_arguments.shown(text)}: it must be 1, "
      "to raise an error if the native kernel cannot run, or 0, to take the "
      "portable path without a warning"
    )
  return text == "1" if text else None


def edges_and_kinds(
  fixed: Sequence[_T],
) -> tuple[list[_T] | None, _T | None]:
  """Splits `fixed` into the edge arrays and `kinds`, each None if absent.

  The docstring of `kernel_ops` describes these arrays.
  """
  edges = list(fixed[:3]) if len(fixed) >= 3 else None
  return edges, fixed[-1] if len(fixed) % 3 else None


class EliminationSize(TypedDict):
  """The memory and the work that the elimination of a chain takes.

  Attributes:
    num_components: the number of components.
    largest_component: the number of phases of the largest component.
    fill: the number of stored numbers.
    working: the number of numbers in the working memory.
    operations: the number of multiply-adds.
  """

  num_components: int
  largest_component: int
  fill: int
  working: int
  operations: float


class PathChoice:
  """A choice of the code path, which a `with` block undoes at its end."""

  def __init__(self, kernel: Kernel, choice: str):
    self._kernel = kernel
    self._choice = choice
    self._before = kernel.choice
    kernel.set_path(choice)

  def __enter__(self) -> None:
    self._kernel.set_path(self._choice)

  def __exit__(self, *error: object) -> None:
    self._kernel.set_path(self._before)


class Kernel:
  """The choice between the native kernel and the portable path.

  Attributes:
    choice: one of `PATHS`.
    unavailable_reason: a function that returns why the kernel cannot run, "" if
      it can.
    is_suitable: a function that returns whether the kernel should run if it
      can.
    slowdown: how many times slower the portable path is, for messages: the
      median over ordinary calls (benchmarks/portable_cost.py).
    can_run: whether a call since the choice of the path has found that the
      kernel can run; later calls then skip the test.
  """

  def __init__(
    self,
    unavailable_reason: Callable[[], str],
    slowdown: int,
    is_suitable: Callable[[], bool] = lambda: True,
  ):
    self.unavailable_reason = unavailable_reason
    self.slowdown = slowdown
    self.is_suitable = is_suitable
    self.can_run = False
    self.choice = "auto"

  def path(self) -> str:
    """Returns the current code path, "kernel" or "portable"."""
    if self.choice != "auto":
      return self.choice
    if self.unavailable_reason() or not self.is_suitable():
      return "portable"
    return "kernel"

  def path_of_call(self) -> str:
    """Returns "kernel" or "portable", the path of a call.

    Raises:
      RuntimeError: the kernel cannot run, and PHASIC_REQUIRE_KERNEL is 1.
      ValueError: PHASIC_REQUIRE_KERNEL is neither 0 nor 1.
    """
    is_required = required()
    path = self.path()
    if path == "portable" and self.choice == "auto" and is_required:
      reason = self.unavailable_reason()
      if reason and self.is_suitable():
        raise RuntimeError(
          f"the native kernel cannot run: {reason}. PHASIC_REQUIRE_KERNEL is 1, "
          "which makes this an error; config.use_path('portable') computes "
          "without the kernel"
        )
    self.can_run = path == "kernel" and self.choice == "auto"
    return path

  def warn_if_missing(self) -> None:
    """Warns if the kernel cannot run; a substrate calls it when imported.

    Nothing warns if PHASIC_REQUIRE_KERNEL is set: calls raise, or that is
    meant.
    """
    try:
      is_set = required() is not None
    except ValueError:  # Calls raise it.
      is_set = True
    reason = "" if is_set else self.unavailable_reason()
    if reason:
      user_warnings.warn(
        "phasic runs without its native kernel, on the portable path, which is "
        f"about {self.slowdown} times slower: {reason} "
        "(PHASIC_REQUIRE_KERNEL=0 in the environment hides this line)"
      )

  def precision(self) -> str:
    """Returns the dtype in which the current code path computes."""
    return "float64" if self.path() == "kernel" else static.wide_float()

  def set_path(self, choice: str) -> None:
    """Chooses the path: "kernel", "portable", or "auto" (kernel if it can run).

    Raises:
      ValueError: `choice` is not one of these.
      RuntimeError: `choice` is "kernel" and it cannot run; the message has the
        reason.
    """
    if not isinstance(choice, str) or choice not in PATHS:
      raise ValueError(
        f"choice is {raw_arguments.shown(choice)}: it must be one of {PATHS}"
      )
    if choice == "kernel":
      self.require()
    self.choice, self.can_run = choice, False

  def require(self) -> None:
    """Raises RuntimeError if the kernel cannot run."""
    if self.unavailable_reason():
      raise RuntimeError(self.unavailable_reason())

  def on_host(self) -> types.ModuleType:
    """Returns the kernel's Python module, for calls on host arrays.

    Raises:
      RuntimeError: the kernel cannot run.
    """
    self.require()
    return load()[0]

  def status(
    self,
    kind: str,
    operands: Sequence[object],
    edges: Sequence[object] = (),
    kinds: object = None,
    discrete: bool = False,
  ) -> onp.ndarray:
    """Computes int32 status codes (batch..., n) that explain NaN results.

    Arguments are as in `kernel_ops.phase_type`.

    Raises:
      RuntimeError: the kernel cannot run.
      ValueError: the operands are traced.
    """
    inputs = [*operands, *edges, *([] if kinds is None else [kinds])]
    known = [static.concrete(x) for x in inputs]
    if any(x is None for x in known):
      raise ValueError(
        "status has traced operands: they must be concrete; call it eagerly"
      )
    arrays = [onp.ascontiguousarray(x) for x in known]
    count = len(operands)
    edge_arrays, kind_array = edges_and_kinds(arrays[count:])
    return self.on_host().status(
      KINDS.index(kind),
      arrays[:count],
      edge_arrays,
      kinds=kind_array,
      discrete=discrete,
    )

  def meets_constraint(
    self, x: onp.ndarray, constraint: str, exits: onp.ndarray | None = None
  ) -> bool:
    """Returns True only if the kernel finds that an array meets a constraint.

    If the kernel cannot run, the result is False.

    Args:
      x: float32 or float64.
      constraint: as in `ParameterProperties`.
      exits: the exits of a matrix, or the mass at zero of initial masses.
    """
    module = None if self.unavailable_reason() else load()[0]
    return module is not None and module.meets_constraint(x, constraint, exits)

  def model_meets_constraints(
    self,
    initial_probs: object,
    matrix: object,
    exits: object,
    prob_zero: object,
    discrete: bool,
  ) -> bool:
    """Returns True only if the kernel finds a model of host arrays valid."""
    module = None if self.unavailable_reason() else load()[0]
    return module is not None and module.model_meets_constraints(
      initial_probs, matrix, exits, prob_zero, discrete
    )

  def edges_meet_constraints(
    self,
    initial_probs: object,
    edges: tuple[object, ...],
    prob_zero: object,
    discrete: bool,
  ) -> bool:
    """Returns True only if the kernel finds one model with edges valid.

    Args:
      initial_probs: alpha, (p,).
      edges: the fields of `EdgeRates` or `EdgeProbs`.
      prob_zero: the mass at zero, or None.
      discrete: whether time is counted in steps.
    """
    module = None if self.unavailable_reason() else load()[0]
    return module is not None and module.edges_meet_constraints(
      initial_probs, edges, prob_zero, discrete
    )

  def measure_elimination(
    self, num_phases: int, indices: onp.typing.ArrayLike
  ) -> EliminationSize:
    """Computes the memory and work that the elimination of a chain takes.

    Args:
      num_phases: p.
      indices: sources and targets of the edges, (2, m), on the host.

    Raises:
      RuntimeError: the kernel cannot run.
      ValueError: an index is out of range.
    """
    indices = onp.ascontiguousarray(indices, onp.int32)
    return self.on_host().measure_elimination(num_phases, indices)

  def status_message(self, code: int) -> str:
    """Returns the message of a status code; code 0 is "ok"."""
    return self.on_host().status_message(int(code))

  def work_limit(self) -> float | None:
    """Returns the limit on the work of one model in seconds; None: no limit."""
    multiply_adds = self.on_host().max_work()
    if multiply_adds == float("inf"):
      return None
    return multiply_adds / MULTIPLY_ADDS_PER_SECOND

  def set_work_limit(self, seconds: float | None) -> float:
    """Sets the limit on work; returns it as a number of multiply-adds."""
    limit = float("inf")
    if seconds is not None:
      is_number = isinstance(seconds, (int, float, onp.number))
      if not is_number or isinstance(seconds, bool):
        raise TypeError(
          f"seconds is {raw_arguments.shown(seconds)}: it must be a number, or "
          "None for no limit"
        )
      # The bound ensures that the number of multiply-adds is finite.
      if not 0.0 < seconds <= 1e200:
        raise ValueError(
          f"seconds is {raw_arguments.shown(seconds)}: it must be > 0 and finite, "
          "at most 1e200; pass None for no limit"
        )
      limit = float(seconds) * MULTIPLY_ADDS_PER_SECOND
    self.on_host().set_max_work(limit)
    return limit

  def num_threads(self) -> int:
    """Returns the largest number of threads that a kernel call may use.

    Raises:
      RuntimeError: the kernel cannot run.
    """
    return self.on_host().num_threads()

  def set_num_threads(self, count: int) -> None:
    """Sets the largest number of threads that a kernel call may use."""
    try:
      number = operator.index(count)
    except TypeError:
      raise TypeError(
        f"count is {raw_arguments.shown(count)}: it must be an integer from 1 to 256"
      ) from None
    self.on_host().set_num_threads(number)
