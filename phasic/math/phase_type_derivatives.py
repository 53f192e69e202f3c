"""Derivatives of the functions of `phase_type`, as functions themselves.

NumPy has no autodiff; these are its derivatives, by the same native code that
JAX and TensorFlow differentiate with. They exist in every substrate.

Cotangents and tangents come in the order of the arguments: initial_probs,
subgenerator, times, exit_rates, prob_zero, with None for those that were not
given; that of EdgeRates is that of its parameters. `wanted` names the arguments
whose cotangents are computed, and is None for all; the others' are None, and
the work for them is not done. Arguments and errors are those of `phase_type.log_density`; in NumPy
NotImplementedError is raised where the native kernel cannot run.
"""

import numpy as np

from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.math import edge_rates
from phasic.math import operands as operands_lib


def log_density_vjp(
  initial_probs,
  subgenerator,
  times,
  exit_rates=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `log_density` and the cotangents of its five arguments."""
  return _vjp(
    "log_density",
    (initial_probs, subgenerator, times, exit_rates, prob_zero),
    cotangent,
    wanted,
  )


def log_density_jvp(
  initial_probs,
  subgenerator,
  times,
  exit_rates=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `log_density` and its derivative along five tangents."""
  return _jvp(
    "log_density",
    (initial_probs, subgenerator, times, exit_rates, prob_zero),
    tangents,
  )


def density_vjp(
  initial_probs,
  subgenerator,
  times,
  exit_rates=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `density` and the cotangents of its five arguments."""
  return _vjp(
    "density",
    (initial_probs, subgenerator, times, exit_rates, prob_zero),
    cotangent,
    wanted,
  )


def density_jvp(
  initial_probs,
  subgenerator,
  times,
  exit_rates=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `density` and its derivative along five tangents."""
  return _jvp(
    "density",
    (initial_probs, subgenerator, times, exit_rates, prob_zero),
    tangents,
  )


def log_survival_vjp(
  initial_probs,
  subgenerator,
  times,
  exit_rates=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `log_survival` and the cotangents of its five arguments."""
  return _vjp(
    "log_survival",
    (initial_probs, subgenerator, times, exit_rates, prob_zero),
    cotangent,
    wanted,
  )


def log_survival_jvp(
  initial_probs,
  subgenerator,
  times,
  exit_rates=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `log_survival` and its derivative along five tangents."""
  return _jvp(
    "log_survival",
    (initial_probs, subgenerator, times, exit_rates, prob_zero),
    tangents,
  )


def survival_vjp(
  initial_probs,
  subgenerator,
  times,
  exit_rates=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `survival` and the cotangents of its five arguments."""
  return _vjp(
    "survival",
    (initial_probs, subgenerator, times, exit_rates, prob_zero),
    cotangent,
    wanted,
  )


def survival_jvp(
  initial_probs,
  subgenerator,
  times,
  exit_rates=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `survival` and its derivative along five tangents."""
  return _jvp(
    "survival",
    (initial_probs, subgenerator, times, exit_rates, prob_zero),
    tangents,
  )


def log_cdf_vjp(
  initial_probs,
  subgenerator,
  times,
  exit_rates=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `log_cdf` and the cotangents of its five arguments."""
  return _vjp(
    "log_cdf",
    (initial_probs, subgenerator, times, exit_rates, prob_zero),
    cotangent,
    wanted,
  )


def log_cdf_jvp(
  initial_probs,
  subgenerator,
  times,
  exit_rates=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `log_cdf` and its derivative along five tangents."""
  return _jvp(
    "log_cdf",
    (initial_probs, subgenerator, times, exit_rates, prob_zero),
    tangents,
  )


def cdf_vjp(
  initial_probs,
  subgenerator,
  times,
  exit_rates=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `cdf` and the cotangents of its five arguments."""
  return _vjp(
    "cdf",
    (initial_probs, subgenerator, times, exit_rates, prob_zero),
    cotangent,
    wanted,
  )


def cdf_jvp(
  initial_probs,
  subgenerator,
  times,
  exit_rates=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `cdf` and its derivative along five tangents."""
  return _jvp(
    "cdf",
    (initial_probs, subgenerator, times, exit_rates, prob_zero),
    tangents,
  )


def _vjp(kind, arguments, cotangent, wanted):
  if wanted is None:
    wanted = operands_lib.ARGUMENTS
  unknown = [x for x in wanted if x not in operands_lib.ARGUMENTS]
  if isinstance(wanted, str) or unknown:
    raise ValueError(
      f"wanted is {wanted!r}: it must be a sequence of names from "
      f"{operands_lib.ARGUMENTS}"
    )
  arguments = operands_lib.convert(*arguments)
  operands, layout = operands_lib.canonical(arguments)
  dtype = static.dtype_name(operands[0])
  bar = structures.as_array(cotangent, dtype, "cotangent")
  value, bars = kernel_ops.phase_type_vjp(
    kind,
    operands,
    operands_lib.cotangent(layout, bar),
    edge_rates.phase_type,
    operands_lib.edges(layout, arguments),
    tuple(name in wanted for name in operands_lib.OPERANDS),
  )
  return (
    operands_lib.result(layout, value),
    operands_lib.argument_cotangents(layout, bars),
  )


def _jvp(kind, arguments, tangents):
  arguments = operands_lib.convert(*arguments)
  operands, layout = operands_lib.canonical(arguments)
  if len(tangents) != len(arguments):
    raise ValueError(
      f"tangents has {len(tangents)} entries: it must have one for each of "
      f"{operands_lib.ARGUMENTS}"
    )
  filled = [
    tangent(name, x, v)
    for name, x, v in zip(
      operands_lib.ARGUMENTS, arguments, tangents, strict=True
    )
  ]
  value, moved = kernel_ops.phase_type_jvp(
    kind,
    operands,
    operands_lib.operands(layout, filled),
    edge_rates.phase_type,
    operands_lib.edges(layout, arguments),
  )
  return (
    operands_lib.result(layout, value),
    operands_lib.result(layout, moved),
  )


def tangent(name, x, v):
  """Returns an argument's tangent, zeros for None; of edges the parameters'."""
  if isinstance(x, edge_rates.EdgeRates):
    x = x.parameters
  if x is None:
    if v is not None:
      raise ValueError(f"tangents has an entry for {name}, which is None")
    return None
  if v is None:
    return np.zeros_like(x)
  name = f"tangent of {name}"
  v = structures.as_array(v, static.dtype_name(x), name)
  return operands_lib.broadcast(name, v, static.shape(x))
