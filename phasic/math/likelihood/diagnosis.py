"""Diagnosis of values that are NaN."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
import sys
import types

import numpy as np
import numpy as onp

from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.calls import observation_calls
from phasic.math.model import function_kinds
from phasic.math.model import nan_table
from phasic.math.model import operands as operands_lib
from phasic.math.model.model_types import (
  Edges,
  Given,
  KernelArrays,
  SubgeneratorLike,
  SubtransitionLike,
)
from phasic.math.portable import portable

# The portable path's messages, by code. The first broken rule is reported. The
# last two rules need the computed value.
_RULES = (
  "ok",
  "initial_probs: masses must be >= 0 and finite",
  "initial_probs: their sum must be <= 1 within 4 p eps",
  "prob_zero: a probability must be in [0, 1]",
  "subgenerator: rates must be finite",
  "subgenerator: off-diagonals must be >= 0",
  "exit_rates: rates must be >= 0 and finite",
  "subgenerator: row sums must be <= 0 within 4 p eps of the largest entry",
  "value: is NaN",
  "the portable path needs more steps than its limit, or a number is out of "
  "its range",
)


def diagnose(
  value: ArrayLike | None,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
  *,
  method: str = "log_prob",
  upper: ArrayLike | None = None,
) -> onp.ndarray:
  """Returns why each value is NaN, as text; "ok" for finite values.

  An infinite value has no derivatives, and the text says so.

  Args:
    value: the argument of the function; None for functions of the model alone.
    initial_probs: as in `log_prob`.
    subgenerator: as in `log_prob`; or EdgeRates.
    exit_rates: as in `log_prob`.
    prob_zero: as in `log_prob`.
    method: the name of the function here that returned them, of the value and
      the model or of the model alone, e.g. "log_prob", "hazard_function",
      "quantile" or "mean".
    upper: upper bounds, for likelihoods of observations between two values and
      for `expected_statistics` with `upper`. Then `value` has the lower bounds,
      and `method` is not used.

  Returns:
    A host array of strings with the shape of the function's result.

  Raises:
    NotImplementedError: edges or `upper` on the portable path.
    TypeError: an argument is traced, or as in the function.
    ValueError: there is no such function, it takes a value and there is none,
      or the other way round, or as in the function.

  Example:

    >>> import math
    >>> from phasic import math as pm
    >>> str(pm.phase_type.diagnose(math.nan, [1.0], [[-1.0]]))
    'value: is NaN'
  """
  model = (initial_probs, subgenerator, exit_rates, prob_zero)
  return _diagnosed(value, model, method, upper, False)


def discrete_diagnose(
  value: ArrayLike | None,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
  *,
  method: str = "log_prob",
  upper: ArrayLike | None = None,
) -> onp.ndarray:
  """Returns why each value is NaN, as text; "ok" for finite values.

  Arguments, result and errors are as in `phase_type.diagnose`, with T, (..., p,
  p), or `EdgeProbs`. It needs the native kernel.

  Example:

    >>> import math
    >>> from phasic import math as pm
    >>> str(pm.discrete_phase_type.diagnose(math.nan, [1.0], [[0.5]]))
    'value: is NaN'
  """
  model = (initial_probs, subtransition, exit_probs, prob_zero)
  return _diagnosed(value, model, method, upper, True)


def _diagnosed(
  value: ArrayLike | None,
  model: Sequence[Given],
  method: str,
  upper: ArrayLike | None,
  discrete: bool,
) -> onp.ndarray:
  """Computes `diagnose` in continuous or discrete time."""
  functions = _functions(discrete)
  names = tuple(
    name
    for name, entry in nan_table.METHODS.items()
    if name in functions.__all__ and entry.argument not in ("k", "other")
  )
  entry = nan_table.known(method, names)
  nan_table.check_argument(method, entry.argument, value, upper)

  def reasons_at(time: ArrayLike | None, name: str) -> onp.ndarray:
    kind = function_kinds.kind_of(name)
    return reasons(kind, (*model[:2], time, *model[2:]), upper, discrete)

  if upper is not None:
    return reasons_at(value, "log_prob")
  arguments = (value,) if entry.argument else ()
  with user_warnings.derived():
    results = static.concrete(getattr(functions, method)(*arguments, *model))
  if results is None:
    raise TypeError(
      f"{method} is traced: it must be concrete; call diagnose outside jit"
    )
  why = onp.asarray("ok")
  if onp.any(onp.isnan(results)):
    if method in function_kinds.KINDS:
      why = reasons_at(value, method)
    else:
      rule = nan_table.rule(entry, discrete)
      # At time 1 every argument of the model is used, so all are checked.
      why = nan_table.method_reasons(
        entry._replace(rule=rule),
        None if value is None else onp.asarray(static.concrete(value)),
        reasons_at(1.0, "survival_function"),
        reasons_at,
      )
  return nan_table.result_reasons(results, why)


def _functions(discrete: bool) -> types.ModuleType:
  """Returns the public module that has the functions of one kind of time."""
  package = __name__.removesuffix(".likelihood.diagnosis")
  return sys.modules[f"{package}.{'discrete_' * discrete}phase_type"]


def reasons(
  kind: str,
  arguments: Sequence[Given],
  upper: ArrayLike | None = None,
  discrete: bool = False,
) -> onp.ndarray:
  """Returns why each value of the kernel's function `kind` is NaN, as text.

  Args:
    kind: the kernel's name of the function.
    arguments: initial masses, the matrix or edges, times, exits or None, the
      mass at zero or None. With `upper`, the times are lower bounds.
    upper: as in `diagnose`.
    discrete: whether time is discrete.
  """
  names = operands_lib.argument_names(discrete, "value")
  if upper is None:
    converted = operands_lib.convert(*arguments, names=names)
    _require_known(converted, names)
    operands, layout = operands_lib.canonical(converted, names)
    edges, kinds = operands_lib.edges(layout, converted), None
    lay_out: Callable[[Array], Array] = functools.partial(
      operands_lib.result, layout
    )
  else:
    call = observation_calls.ObservationsCall(
      (*arguments[:3], upper, *arguments[3:]), discrete=discrete
    )
    _require_known(call.arguments, call.names)
    operands, layout = call.operands, call.layout
    edges, kinds = call.edges, call.kinds
    lay_out = call.result
  native = kernel_ops.path_of_call() == "kernel"
  if native:
    statuses: onp.ndarray = onp.asarray(
      kernel_ops.status(kind, operands, edges, kinds, discrete)
    )
  elif edges or discrete or upper is not None:
    raise NotImplementedError(
      "the native kernel does not run here: diagnose needs it for discrete "
      "models, edges and the argument upper; call it where the kernel runs"
    )
  else:
    statuses = _portable_codes(kind, operands)
  codes = onp.asarray(static.concrete(lay_out(np.asarray(statuses))))
  known, index = onp.unique(codes, return_inverse=True)
  messages = [
    kernel_ops.status_message(int(code)) if native else _RULES[int(code)]
    for code in known
  ]
  texts = onp.asarray(messages, dtype=str)
  return onp.reshape(texts[index], onp.shape(codes))


def _require_known(
  arguments: Sequence[Array | Edges | None], names: Sequence[str]
) -> None:
  """Raises TypeError if an argument is traced."""
  for name, x in zip(names, arguments, strict=True):
    x = x.parameters if operands_lib.is_edges(x) else x
    if x is not None and static.concrete(x) is None:
      raise TypeError(
        f"{name} is traced: it must be concrete; call diagnose outside jit"
      )


def _portable_codes(kind: str, operands: KernelArrays) -> onp.ndarray:
  """Finds the index in `_RULES` of the rule that each value breaks.

  The result is (batch..., n), int32.
  """
  value = portable.phase_type(kind, *operands)
  eps = static.finfo_eps(value)
  host = [onp.asarray(static.concrete(x), onp.float64) for x in operands]
  alpha, matrix, exits, atom, times = host
  nan = onp.isnan(onp.asarray(static.concrete(value)))
  p = onp.shape(alpha)[-1]
  has_exits = onp.shape(exits)[-1] > 0
  eye = onp.eye(p, dtype=bool)
  read = onp.where(eye, 0.0, matrix) if has_exits else matrix
  off = onp.where(eye, 0.0, matrix)
  scale = 4 * p * eps * onp.max(onp.abs(matrix), axis=-1)
  derived = onp.shape(atom)[-1] == 0
  never = onp.zeros((1,) * onp.ndim(alpha), bool)
  broken = [
    onp.any(
      onp.logical_not((alpha >= 0) & onp.isfinite(alpha)), -1, keepdims=True
    ),
    derived & (onp.sum(alpha, -1, keepdims=True) > 1 + 4 * p * eps),
    never if derived else onp.logical_not((atom >= 0) & (atom <= 1)),
    onp.any(~onp.isfinite(read), (-2, -1))[..., None],
    onp.any(off < 0, (-2, -1))[..., None],
    onp.any(
      onp.logical_not((exits >= 0) & onp.isfinite(exits)), -1, keepdims=True
    ),
    never if has_exits else onp.any(onp.sum(matrix, -1) > scale, -1)[..., None],
    onp.isnan(times),
    nan,
  ]
  shape = onp.broadcast_shapes(onp.shape(nan), *(onp.shape(b) for b in broken))
  broken = [onp.broadcast_to(b, shape) & nan for b in broken]
  codes = onp.select(broken, onp.arange(1, len(_RULES)), 0)
  return onp.asarray(codes, onp.int32)
