"""Derivatives of the functions of `phase_type`, as functions themselves.

NumPy has no autodiff; these are its derivatives, by the same native code that
JAX and TensorFlow differentiate with. They exist in every substrate.

Cotangents and tangents come in the order of the arguments: initial_probs,
subgenerator, times, exit_rates, prob_zero, with None for those that were not
given; that of EdgeRates is that of its parameters. `wanted` names the arguments
whose cotangents are computed, and is None for all; the others' are None, and
the work for them is not done. Arguments and errors are those of
`phase_type.log_density`; in NumPy NotImplementedError is raised where the
native kernel cannot run.
"""

from phasic.math.calls import evaluation


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
  return evaluation.vjp(
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
  return evaluation.jvp(
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
  return evaluation.vjp(
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
  return evaluation.jvp(
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
  return evaluation.vjp(
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
  return evaluation.jvp(
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
  return evaluation.vjp(
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
  return evaluation.jvp(
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
  return evaluation.vjp(
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
  return evaluation.jvp(
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
  return evaluation.vjp(
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
  return evaluation.jvp(
    "cdf",
    (initial_probs, subgenerator, times, exit_rates, prob_zero),
    tangents,
  )
