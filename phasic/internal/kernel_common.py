"""What the `kernel_ops` of all substrates share: it knows no array library.

This file goes into each substrate as it stands, so each has its own choice of
a path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import contextlib
import functools
import operator
import os
import threading
from typing import Any

import numpy as onp

from phasic.internal import native_module
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import user_warnings

# As native/kernel/api/phase_type.h numbers them.
KINDS = (
  "log_density",
  "density",
  "log_survival",
  "survival",
  "log_cdf",
  "cdf",
)
PATHS = ("auto", "kernel", "portable")
STATISTICS_NEED_KERNEL = (
  "expected statistics need the native kernel: derivatives of the portable "
  "path hold them only as differences"
)
EDGES_ARE_FIXED = (
  "a derivative in the coefficients or constants of edges was asked for: make "
  "the rates of the edges outside, and pass them as parameters without "
  "coefficients"
)
load = native_module.load


@functools.cache
def required() -> bool | None:
  """Returns whether a kernel that cannot run is an error, None for a warning.

  Raises:
    ValueError: PHASIC_REQUIRE_KERNEL has a value without a meaning.
  """
  text = os.environ.get("PHASIC_REQUIRE_KERNEL", "")
  if text not in ("", "0", "1"):
    raise ValueError(
      f"PHASIC_REQUIRE_KERNEL is {raw_arguments.shown(text)}: it must be 1, "
      "which makes a native kernel that cannot run an error, or 0, which takes "
      "the portable path without a warning"
    )
  return text == "1" if text else None


def edges_and_kinds(fixed: Sequence[Any]) -> tuple[list[Any] | None, Any]:
  """Returns the edges and the kinds among arrays; None where there are none."""
  edges = list(fixed[:3]) if len(fixed) >= 3 else None
  return edges, fixed[-1] if len(fixed) % 3 else None


class Kernel:
  """The choice between kernel and portable path, and the kernel on the host.

  Attributes:
    unavailable_reason: returns why the kernel cannot run, "" if it can.
    is_suitable: returns whether it is to run where it can.
  """

  def __init__(
    self,
    unavailable_reason: Callable[[], str],
    is_suitable: Callable[[], bool] = lambda: True,
  ):
    self.unavailable_reason = unavailable_reason
    self.is_suitable = is_suitable
    self._choice = "auto"
    self._lock = threading.Lock()
    self._has_warned = False

  def path(self) -> str:
    """Returns which path runs now, "kernel" or "portable"."""
    if self._choice != "auto":
      return self._choice
    if self.unavailable_reason() or not self.is_suitable():
      return "portable"
    return "kernel"

  def path_of_call(self) -> str:
    """Returns the path that a call takes, which must not be slow in silence.

    The first call that takes the portable path because the kernel cannot run
    warns, at the caller's line. It does not where that path was chosen, or is
    the one for this device.

    Raises:
      RuntimeError: the kernel cannot run, and PHASIC_REQUIRE_KERNEL is 1.
      ValueError: PHASIC_REQUIRE_KERNEL is neither 0 nor 1.
    """
    is_required = required()
    path = self.path()
    if (
      path == "portable" and self._choice == "auto" and is_required is not False
    ):
      self._report(is_required)
    return path

  def _report(self, is_required: bool | None) -> None:
    """Warns once, or raises, if it is the kernel that cannot run."""
    reason = self.unavailable_reason()
    if not reason or not self.is_suitable():
      return
    message = f"the native kernel cannot run: {reason}. "
    if is_required:
      raise RuntimeError(
        f"{message}PHASIC_REQUIRE_KERNEL is 1, which makes this an error; "
        "config.use_path('portable') computes without the kernel"
      )
    with self._lock:
      is_first, self._has_warned = not self._has_warned, True
    if not is_first:
      return
    try:
      user_warnings.warn(
        f"{message}Calls take the portable path instead, which is many times "
        "slower. config.use_path('portable') chooses it without this warning; "
        "PHASIC_REQUIRE_KERNEL=1 makes it an error"
      )
    except RuntimeWarning:  # An error by a filter, so for each call.
      self._has_warned = False
      raise

  def precision(self) -> str:
    """Returns the dtype in which values are computed on the path of now.

    It is "float64", for float32 operands too, but on JAX's portable path with
    64-bit numbers switched off, which has nothing wider than "float32".
    """
    return "float64" if self.path() == "kernel" else static.wide_float()

  def set_path(self, choice: str) -> None:
    """Chooses the path: "kernel", "portable", or "auto" (kernel if it can run).

    Raises:
      ValueError: `choice` is none of these.
      RuntimeError: `choice` is "kernel" and it cannot run; the reason is given.
    """
    if choice not in PATHS:
      raise ValueError(
        f"path is {raw_arguments.shown(choice)}: it must be one of {PATHS}"
      )
    if choice == "kernel":
      self.require()
    self._choice = choice

  @contextlib.contextmanager
  def use_path(self, choice: str) -> Iterator[None]:
    """Context manager that chooses the path and restores the earlier choice."""
    before = self._choice
    self.set_path(choice)
    try:
      yield
    finally:
      self.set_path(before)

  def require(self) -> None:
    """Raises RuntimeError if the kernel cannot run."""
    if self.unavailable_reason():
      raise RuntimeError(self.unavailable_reason())

  def on_host(self) -> Any:
    """Returns the kernel's Python module.

    Raises:
      RuntimeError: the kernel cannot run.
    """
    self.require()
    return load()[0]

  def status(
    self,
    kind: str,
    operands: Sequence[Any],
    edges: Sequence[Any] = (),
    kinds: Any = None,
    discrete: bool = False,
  ) -> onp.ndarray:
    """Returns why values are NaN: int32 codes (batch..., n) on the host.

    Arguments are those of `kernel_ops.phase_type`.

    Raises:
      RuntimeError: the kernel cannot run.
      ValueError: the operands are traced, so there are no values yet.
    """
    given = [*operands, *edges, *([] if kinds is None else [kinds])]
    known = [static.concrete(x) for x in given]
    if any(x is None for x in known):
      raise ValueError("status needs concrete operands: call it eagerly")
    arrays = [onp.ascontiguousarray(x) for x in known]
    count = len(operands)
    own_edges, own_kinds = edges_and_kinds(arrays[count:])
    return self.on_host().status(
      KINDS.index(kind),
      arrays[:count],
      own_edges,
      kinds=own_kinds,
      discrete=discrete,
    )

  def meets_constraint(
    self, x: onp.ndarray, constraint: str, exits: onp.ndarray | None = None
  ) -> bool:
    """Returns whether a parameter on the host meets a constraint for certain.

    Where the kernel cannot run nothing is certain.

    Args:
      x: float32 or float64.
      constraint: as in `ParameterProperties`; zero counts as positive.
      exits: beside a matrix its exits, beside masses the one at zero.
    """
    module = None if self.unavailable_reason() else load()[0]
    return module is not None and module.meets_constraint(x, constraint, exits)

  def model_meets_constraints(
    self,
    initial_probs: Any,
    matrix: Any,
    exits: Any,
    prob_zero: Any,
    discrete: bool,
  ) -> bool:
    """Returns whether a model on the host meets all rules for certain."""
    module = None if self.unavailable_reason() else load()[0]
    return module is not None and module.model_meets_constraints(
      initial_probs, matrix, exits, prob_zero, discrete
    )

  def measure_elimination(
    self, num_phases: int, indices: Any
  ) -> dict[str, Any]:
    """Returns what the elimination of a chain takes.

    Args:
      num_phases: p.
      indices: sources and targets of the edges, (2, m), on the host.

    Returns:
      Its `num_components`, the phases of the `largest_component`, the `fill`,
      numbers that are kept, and the `operations`, multiply-adds.

    Raises:
      RuntimeError: the kernel cannot run.
      ValueError: an index is out of range.
    """
    indices = onp.ascontiguousarray(indices, onp.int32)
    return self.on_host().measure_elimination(num_phases, indices)

  def status_message(self, code: int) -> str:
    """Returns what a code of `status` means; 0 is "ok"."""
    return self.on_host().status_message(int(code))

  def num_threads(self) -> int:
    """Returns how many threads one call of the kernel may use.

    Raises:
      RuntimeError: the kernel cannot run.
    """
    return self.on_host().num_threads()

  def set_num_threads(self, count: int) -> None:
    """Sets how many threads one call may use, the calling one included.

    Models of a batch are shared out among them; results do not depend on it,
    to the last bit. At first it is the environment variable
    PHASIC_NUM_THREADS or else the number of processors, at most eight. The
    process has one setting, and one for TensorFlow's ops. In JAX the threads
    are XLA's own, so there are no more of them than it has.

    Args:
      count: from 1 to 256; 1 leaves all work to the calling thread.

    Raises:
      TypeError: `count` is not an integer.
      ValueError: `count` is out of range.
      RuntimeError: the kernel cannot run.
    """
    try:
      number = operator.index(count)
    except TypeError:
      raise TypeError(
        f"count is {raw_arguments.shown(count)}: it must be an integer from 1 to 256"
      ) from None
    self.on_host().set_num_threads(number)
