"""Log likelihoods of observations: exact, right-, left-, interval-censored.

One power sequence and one adjoint of the kernel serve a mixed set of them.
"""

import numpy as np

from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.math import evaluation
from phasic.math import named_checks
from phasic.math import operands as operands_lib
from phasic.math import phase_type
from phasic.math import phase_type_derivatives
from phasic.math import portable_observations


def log_likelihood_terms(
  initial_probs,
  subgenerator,
  lower,
  upper=None,
  *,
  exit_rates=None,
  prob_zero=None,
  validate_args=False,
):
  """Returns the log likelihoods of observations of X, one by one.

  What is known of X is that it lies between `lower` and `upper`:

      lower == upper:  X is there                log f(lower)
      upper == inf:    right-censored            log P(X > lower)
      lower < 0:       left-censored             log P(X <= upper)
      else:            interval-censored         log P(lower < X <= upper)

  The first that holds counts. P(X <= upper) has the atom at zero in it, and
  P(0 < X <= upper) has not. The kernel gives all of them to full accuracy, the
  mass of an interval too, however narrow or far out it is:

      P(l < X <= u) = sum_k a_k / q int_{q l}^{q u} exp(-y) y^k / k! dy

  with the terms a_k of uniformization at rate q; all of it is positive. The
  portable path subtracts, P(X > l) - P(X > u) or P(X <= u) - P(X <= l),
  whichever is the smaller pair: the relative error of the mass is then about
  1e-14 times min(P(X > l), P(X <= u)) / P(l < X <= u).

  Args:
    initial_probs: alpha, (..., p), masses >= 0 with a sum <= 1.
    subgenerator: S, (..., p, p), rates per unit of time; off-diagonals >= 0.
      Or `EdgeRates`, the rates of a sparse model, without `exit_rates`.
    lower: (...), in units of time.
    upper: (...), not below `lower`; None for `lower`, observations that are
      all exact.
    exit_rates: s, (..., p); None derives them, s = -S 1. If given, the
      diagonal of S is not read and its derivative is zero by definition.
    prob_zero: z, (...); None derives it, z = 1 - sum(alpha).
    validate_args: whether to check the values of `lower` and `upper`.

  Returns:
    An array with the broadcast shape of `lower`, `upper` and the model's batch.
    NaN where upper < lower or one of them is NaN. The derivative of an exact
    one is that in `lower`; that of a left-censored one is in `upper`.

  Raises:
    TypeError: dtypes differ, or are complex, bool or half precision.
    ValueError: shapes do not fit, or an array is empty; with `validate_args`,
      upper < lower somewhere, or NaN.

  Example: an event at 0.5, one after 2, and one between 1 and 2.

    >>> import math
    >>> import numpy as np
    >>> from phasic import math as pm
    >>> lower = np.asarray([0.5, 2.0, 1.0])
    >>> upper = np.asarray([0.5, math.inf, 2.0])
    >>> terms = pm.log_likelihood_terms([1.0], [[-2.0]], lower, upper)
    >>> print([f"{float(x):.6f}" for x in terms])
    ['-0.306853', '-4.000000', '-2.145413']

  References:
    J. P. Klein, M. L. Moeschberger, Survival analysis, 2003, ch. 3.5.
    M. Olsson, Estimation of phase-type distributions from censored data,
      Scand. J. Statist. 23, 1996.
  """
  if upper is None and not validate_args:
    return phase_type.log_density(
      initial_probs, subgenerator, lower, exit_rates, prob_zero
    )
  upper = lower if upper is None else upper
  arguments = (initial_probs, subgenerator, lower, upper, exit_rates, prob_zero)
  call = ObservationsCall(arguments, validate_args)
  value = kernel_ops.phase_type(
    "log_density",
    call.operands,
    portable_observations.phase_type,
    call.edges,
    kinds=call.kinds,
  )
  return call.result(value)


def log_likelihood_terms_vjp(
  initial_probs,
  subgenerator,
  lower,
  upper=None,
  *,
  exit_rates=None,
  prob_zero=None,
  cotangent,
  wanted=None,
):
  """Returns `log_likelihood_terms` and the cotangents of its six arguments.

  They come in the order initial_probs, subgenerator, lower, upper, exit_rates,
  prob_zero, with None for those that were not given; that of EdgeRates is that
  of its parameters. `wanted` names the arguments whose cotangents are computed,
  and is None for all; the others' are None. In NumPy NotImplementedError is
  raised where the native kernel cannot run.
  """
  names = operands_lib.INTERVAL_ARGUMENTS
  wanted = evaluation.checked_names(wanted, names)
  if upper is None:
    of_times = ["times" if x == "lower" else x for x in wanted if x != "upper"]
    value, bars = phase_type_derivatives.log_density_vjp(
      initial_probs,
      subgenerator,
      lower,
      exit_rates,
      prob_zero,
      cotangent=cotangent,
      wanted=of_times,
    )
    return value, (*bars[:3], None, *bars[3:])
  arguments = (initial_probs, subgenerator, lower, upper, exit_rates, prob_zero)
  call = ObservationsCall(arguments)
  dtype = static.dtype_name(call.operands[0])
  bar = structures.as_array(cotangent, dtype, "cotangent")
  model = [names[i] in wanted for i in (0, 1, 4, 5)]
  value, bars = kernel_ops.phase_type_vjp(
    "log_density",
    call.operands,
    call.weights(bar, "cotangent"),
    portable_observations.phase_type,
    call.edges,
    (*model, "lower" in wanted or "upper" in wanted),
    kinds=call.kinds,
  )
  found = zip(names, call.cotangents(bars), strict=True)
  return call.result(value), tuple(x if n in wanted else None for n, x in found)


def log_likelihood_terms_jvp(
  initial_probs,
  subgenerator,
  lower,
  upper=None,
  *,
  exit_rates=None,
  prob_zero=None,
  tangents,
):
  """Returns `log_likelihood_terms` and its derivative along six tangents.

  They come in the order of the cotangents of `log_likelihood_terms_vjp`; None
  stands for zeros.
  """
  if upper is None:
    return phase_type_derivatives.log_density_jvp(
      initial_probs,
      subgenerator,
      lower,
      exit_rates,
      prob_zero,
      tangents=(*tangents[:3], *tangents[4:]),
    )
  arguments = (initial_probs, subgenerator, lower, upper, exit_rates, prob_zero)
  call = ObservationsCall(arguments)
  value, tangent = kernel_ops.phase_type_jvp(
    "log_density",
    call.operands,
    call.tangent_operands(tangents),
    portable_observations.phase_type,
    call.edges,
    kinds=call.kinds,
  )
  return call.result(value), call.result(tangent)


class ObservationsCall:
  """A call of the kernel: each observation is a pair of times.

  Attributes:
    arguments: the six arguments as arrays.
    layout: that of the model and one time of each pair.
    operands: the kernel's five.
    edges: its arrays of edges.
    kinds: (batch..., 2 n), kinds of the times. A pair's value is that of its
      first.
  """

  def __init__(self, arguments, validate_args=False):
    names = operands_lib.INTERVAL_ARGUMENTS
    self.arguments = operands_lib.convert(*arguments, names=names)
    _, _, lower, upper, _, _ = self.arguments
    try:
      shape = static.broadcast_shapes(static.shape(lower), static.shape(upper))
    except ValueError:
      raise ValueError(
        f"lower has shape {static.shape(lower)} and upper "
        f"{static.shape(upper)}: they do not broadcast"
      ) from None
    self._shape = shape
    lower, upper = np.broadcast_to(lower, shape), np.broadcast_to(upper, shape)
    if validate_args:
      lower = named_checks.check(
        "upper",
        lower,
        lower <= upper,
        "it must be at least lower, neither NaN",
        upper,
      )
    operands, self.layout = operands_lib.canonical(self._of_model(lower))
    self.edges = operands_lib.edges(self.layout, self._of_model(lower))
    lower = operands[-1]
    upper = operands_lib.times_operand(self.layout, upper)
    zeros = np.asarray(np.zeros_like(lower), dtype="int32")
    self.kinds = _paired(
      zeros + portable_observations.LOG_OBSERVATION,
      zeros + portable_observations.NOTHING,
    )
    self.operands = (*operands[:-1], _paired(lower, upper))

  def _of_model(self, times):
    """The five arguments of functions of one time."""
    initial_probs, subgenerator, _, _, exit_rates, prob_zero = self.arguments
    return initial_probs, subgenerator, times, exit_rates, prob_zero

  def result(self, value):
    """Brings the kernel's result into the shape of the observations."""
    return operands_lib.result(self.layout, _unpaired(value)[..., 0])

  def cotangents(self, bars):
    """Brings the operands' cotangents into the order of the arguments."""
    if bars[-1] is None:
      model = operands_lib.argument_cotangents(self.layout, bars)
      return (*model[:2], None, None, *model[3:])
    pairs = _unpaired(bars[-1])
    parts = [
      operands_lib.argument_cotangents(self.layout, (*bars[:-1], pairs[..., i]))
      for i in range(2)
    ]
    _, _, lower, upper, _, _ = self.arguments
    initial_probs, rates, times, exit_rates, prob_zero = parts[0]
    return (
      initial_probs,
      rates,
      operands_lib.summed(times, static.shape(lower)),
      operands_lib.summed(parts[1][2], static.shape(upper)),
      exit_rates,
      prob_zero,
    )

  def weights(self, x, name):
    """Lays weights of the observations out; the second of a pair has none."""
    x = operands_lib.cotangent(self.layout, x, name)
    return _paired(x, np.zeros_like(x))

  def tangent_operands(self, tangents):
    """Lays tangents of the six arguments out as the kernel's operands."""
    names = operands_lib.INTERVAL_ARGUMENTS
    if len(tangents) != len(names):
      raise ValueError(
        f"tangents has {len(tangents)} entries: it must have one for each of "
        f"{names}"
      )
    initial_probs, rates, lower, upper, exit_rates, prob_zero = (
      evaluation.tangent(name, x, v)
      for name, x, v in zip(names, self.arguments, tangents, strict=True)
    )
    lower = np.broadcast_to(lower, self._shape)
    upper = np.broadcast_to(upper, self._shape)
    of_model = (initial_probs, rates, lower, exit_rates, prob_zero)
    laid_out = operands_lib.operands(self.layout, of_model)
    upper = operands_lib.times_operand(self.layout, upper)
    return (*laid_out[:-1], _paired(laid_out[-1], upper))


def _paired(first, second):
  """Interleaves two arrays along the last axis."""
  pairs = np.stack([first, second], axis=-1)
  return np.reshape(pairs, (*static.shape(first)[:-1], -1))


def _unpaired(x):
  """Returns (..., n, 2) of (..., 2 n)."""
  return np.reshape(x, (*static.shape(x)[:-1], -1, 2))
