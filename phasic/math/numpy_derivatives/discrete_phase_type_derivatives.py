"""Derivatives of the functions of `discrete_phase_type`, as functions.

They are what `phase_type_derivatives` is in continuous time. Cotangents and
tangents come in the order of the arguments: initial_probs, subtransition,
counts, exit_probs, prob_zero, with None for those that were not given; that of
EdgeProbs is that of its parameters. `wanted` names the arguments whose
cotangents are computed, and is None for all. That of whole counts is NaN, as
there is none. Arguments and errors are those of `discrete_phase_type.log_prob`;
in NumPy NotImplementedError is raised where the native kernel cannot run.
"""

from phasic.math.calls import evaluation


def log_prob_vjp(
  initial_probs,
  subtransition,
  counts,
  exit_probs=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `log_prob` and the cotangents of its five arguments."""
  return evaluation.vjp(
    "log_density",
    (initial_probs, subtransition, counts, exit_probs, prob_zero),
    cotangent,
    wanted,
    discrete=True,
  )


def log_prob_jvp(
  initial_probs,
  subtransition,
  counts,
  exit_probs=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `log_prob` and its derivative along five tangents."""
  return evaluation.jvp(
    "log_density",
    (initial_probs, subtransition, counts, exit_probs, prob_zero),
    tangents,
    discrete=True,
  )


def prob_vjp(
  initial_probs,
  subtransition,
  counts,
  exit_probs=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `prob` and the cotangents of its five arguments."""
  return evaluation.vjp(
    "density",
    (initial_probs, subtransition, counts, exit_probs, prob_zero),
    cotangent,
    wanted,
    discrete=True,
  )


def prob_jvp(
  initial_probs,
  subtransition,
  counts,
  exit_probs=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `prob` and its derivative along five tangents."""
  return evaluation.jvp(
    "density",
    (initial_probs, subtransition, counts, exit_probs, prob_zero),
    tangents,
    discrete=True,
  )


def log_survival_vjp(
  initial_probs,
  subtransition,
  counts,
  exit_probs=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `log_survival` and the cotangents of its five arguments."""
  return evaluation.vjp(
    "log_survival",
    (initial_probs, subtransition, counts, exit_probs, prob_zero),
    cotangent,
    wanted,
    discrete=True,
  )


def log_survival_jvp(
  initial_probs,
  subtransition,
  counts,
  exit_probs=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `log_survival` and its derivative along five tangents."""
  return evaluation.jvp(
    "log_survival",
    (initial_probs, subtransition, counts, exit_probs, prob_zero),
    tangents,
    discrete=True,
  )


def survival_vjp(
  initial_probs,
  subtransition,
  counts,
  exit_probs=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `survival` and the cotangents of its five arguments."""
  return evaluation.vjp(
    "survival",
    (initial_probs, subtransition, counts, exit_probs, prob_zero),
    cotangent,
    wanted,
    discrete=True,
  )


def survival_jvp(
  initial_probs,
  subtransition,
  counts,
  exit_probs=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `survival` and its derivative along five tangents."""
  return evaluation.jvp(
    "survival",
    (initial_probs, subtransition, counts, exit_probs, prob_zero),
    tangents,
    discrete=True,
  )


def log_cdf_vjp(
  initial_probs,
  subtransition,
  counts,
  exit_probs=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `log_cdf` and the cotangents of its five arguments."""
  return evaluation.vjp(
    "log_cdf",
    (initial_probs, subtransition, counts, exit_probs, prob_zero),
    cotangent,
    wanted,
    discrete=True,
  )


def log_cdf_jvp(
  initial_probs,
  subtransition,
  counts,
  exit_probs=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `log_cdf` and its derivative along five tangents."""
  return evaluation.jvp(
    "log_cdf",
    (initial_probs, subtransition, counts, exit_probs, prob_zero),
    tangents,
    discrete=True,
  )


def cdf_vjp(
  initial_probs,
  subtransition,
  counts,
  exit_probs=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `cdf` and the cotangents of its five arguments."""
  return evaluation.vjp(
    "cdf",
    (initial_probs, subtransition, counts, exit_probs, prob_zero),
    cotangent,
    wanted,
    discrete=True,
  )


def cdf_jvp(
  initial_probs,
  subtransition,
  counts,
  exit_probs=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `cdf` and its derivative along five tangents."""
  return evaluation.jvp(
    "cdf",
    (initial_probs, subtransition, counts, exit_probs, prob_zero),
    tangents,
    discrete=True,
  )
