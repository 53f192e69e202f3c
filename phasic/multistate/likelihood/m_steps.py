"""The M-step of multi-state models: parameters from expected numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as onp

from phasic.internal import static
from phasic.internal import structures
from phasic.multistate.likelihood import em
from phasic.multistate.likelihood import evaluation
from phasic.multistate.likelihood import layouts
from phasic.multistate.likelihood import reading
from phasic.multistate.likelihood import smoothing
from phasic.multistate.states import chains

# The most Newton steps, and the gain of an event below which they end.
_STEPS, _GAIN = 50, 1e-15
# In place of a probability of zero, whose log odds are infinite.
_TINY = 1e-300


def em_step(
  spec: reading.Spec,
  bound: reading.Bound,
  parameters: Mapping[str, Any],
  layout: layouts.Layout,
) -> dict[str, Any]:
  """Makes an EM step, see `MultiState.em_step`."""
  refused = [*spec.hidden.parts()]
  if bound.errors.labels:
    refused.append("misclassification_effects")
  if refused:
    raise NotImplementedError(
      f"the model has the parameters {', '.join(refused)}: EM has no step for "
      "parameters of outcomes and for effects on labels; fit it by fit_mle"
    )
  known = evaluation.evaluated(spec, bound, parameters, layout)
  given = em.statistics(spec.chain, layout, known)
  updated: dict[str, onp.ndarray] = {}
  rates = smoothing.on_host(parameters["rates"])
  effects = onp.zeros(0)
  if "effects" in parameters:
    effects = smoothing.on_host(parameters["effects"])
  columns = onp.asarray(layout.columns, onp.float64)
  log_ratios = onp.matmul(columns * effects, bound.effects.incidence)
  events, exposures = _of_rates(spec.chain, given, rates * onp.exp(log_ratios))
  if "effects" in parameters:
    fit = _Regression(
      events, exposures, columns, onp.asarray(bound.effects.incidence)
    )
    updated["rates"], updated["effects"] = fit.maximum(rates, effects)
  else:
    updated["rates"] = _ratios(events, exposures, rates)
  in_state = onp.eye(len(spec.chain.states))[spec.chain.state_of]
  if "initial_probs" in parameters:
    starts = onp.matmul(given.starts, in_state)[onp.asarray(spec.initial) > 0]
    updated["initial_probs"] = _log(starts[1:]) - _log(starts[0])
  if "misclassification" in parameters and layout.emissions is not None:
    updated["misclassification"] = _log_odds(
      spec, parameters, layout, onp.matmul(given.phases, in_state)
    )
  return {
    name: structures.as_array(updated[name], static.dtype_name(x), name)
    if name in updated
    else x
    for name, x in parameters.items()
  }


def _of_rates(
  chain: chains.Chain, given: em.Statistics, by_row: onp.ndarray
) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns events and exposures of named rates, (d, r) each.

  The rate of an edge may be a sum of several: then its jumps are shared among
  them in proportion.

  Args:
    chain: the chain.
    given: expected jumps and times.
    by_row: the named rates, (d, r).
  """
  total = onp.matmul(by_row, onp.transpose(chain.coefficients))
  total = total + chain.constants
  by_unit = given.jumps / onp.where(total > 0, total, 1.0)
  events = onp.matmul(by_unit, chain.coefficients) * by_row
  exposures = onp.matmul(given.times[:, chain.sources], chain.coefficients)
  return events, exposures


def _ratios(
  events: onp.ndarray, exposures: onp.ndarray, rates: onp.ndarray
) -> onp.ndarray:
  """Returns rates without effects; those without exposure stay."""
  count, time = onp.sum(events, axis=0), onp.sum(exposures, axis=0)
  return onp.where(time > 0, count / onp.where(time > 0, time, 1.0), rates)


class _Regression:
  """Poisson regression of expected events on covariates, with exposures."""

  def __init__(
    self,
    events: onp.ndarray,
    exposures: onp.ndarray,
    columns: onp.ndarray,
    incidence: onp.ndarray,
  ):
    """Makes the regression.

    Args:
      events: (d, r).
      exposures: (d, r).
      columns: (d, k).
      incidence: one where a coefficient acts on a rate, (k, r).
    """
    self._events, self._exposures = events, exposures
    self._columns, self._incidence = columns, incidence
    # Rates without events are zero, and others than these are fitted.
    self._is_zero = onp.sum(events, axis=0) <= 0
    self._fitted = onp.flatnonzero(onp.logical_not(self._is_zero))

  def maximum(
    self, rates: onp.ndarray, effects: onp.ndarray
  ) -> tuple[onp.ndarray, onp.ndarray]:
    """Returns rates and coefficients of the largest likelihood.

    Args:
      rates: where Newton steps start.
      effects: likewise.
    """
    chosen = self._fitted
    r = len(chosen)
    at = onp.concatenate([onp.log(rates[chosen]), effects])
    value, slopes, curvature = self._evaluated(at)
    for _ in range(_STEPS):
      step = onp.linalg.lstsq(curvature, slopes, rcond=1e-13)[0]
      gain = float(onp.dot(step, slopes))
      if not gain > _GAIN * float(onp.sum(self._events)):
        break
      while True:
        trial = self._evaluated(at + step)
        if trial[0] >= value or gain < _GAIN * float(onp.sum(self._events)):
          break
        step, gain = step / 2.0, gain / 2.0
      if not trial[0] >= value:
        break
      at = at + step
      value, slopes, curvature = trial
    seen = onp.sum(self._exposures, axis=0) > 0
    result = onp.where(self._is_zero & seen, 0.0, rates)
    result[chosen] = onp.exp(at[:r])
    return result, at[r:]

  def _evaluated(
    self, at: onp.ndarray
  ) -> tuple[float, onp.ndarray, onp.ndarray]:
    """Computes the log likelihood, its gradient, and minus its Hessian."""
    chosen, columns = self._fitted, self._columns
    r = len(chosen)
    acts = self._incidence[:, chosen]
    back = onp.transpose(acts)
    eta = at[:r] + onp.matmul(columns * at[r:], acts)
    with onp.errstate(over="ignore", invalid="ignore"):
      means = self._exposures[:, chosen] * onp.exp(eta)
      value = float(onp.sum(self._events[:, chosen] * eta - means))
    if not onp.isfinite(value):
      return -onp.inf, at, onp.eye(len(at))
    rest = self._events[:, chosen] - means
    slopes = onp.concatenate(
      [
        onp.sum(rest, axis=0),
        onp.sum(columns * onp.matmul(rest, back), axis=0),
      ]
    )
    mixed = onp.matmul(onp.transpose(means), columns) * back
    # sum_d x_dk x_dl sum_r means_dr acts_kr acts_lr
    inner = onp.zeros((len(acts), len(acts)))
    for i in range(r):
      scaled = columns * acts[:, i]
      inner = inner + onp.matmul(
        onp.transpose(scaled * means[:, i : i + 1]), scaled
      )
    curvature = onp.block(
      [[onp.diag(onp.sum(means, axis=0)), mixed], [onp.transpose(mixed), inner]]
    )
    return value, slopes, curvature


def _log_odds(
  spec: reading.Spec,
  parameters: Mapping[str, Any],
  layout: layouts.Layout,
  states: onp.ndarray,
) -> onp.ndarray:
  """Returns log odds of wrong labels, from expected numbers of labels.

  Args:
    spec: the arguments of the model.
    parameters: the present ones.
    layout: the data.
    states: expected numbers of states at the observations, (e, s).
  """
  hidden, emissions = spec.hidden, layout.emissions
  assert emissions is not None
  log_odds = parameters["misclassification"]
  none: Any = onp.zeros((1, 0))
  table = hidden.log_label_probs(log_odds, None, none, none)
  probs = onp.exp(smoothing.on_host(table)[0])
  # Where a row stands for several labels, they share it.
  possible = onp.asarray(emissions.labels, onp.float64)
  total = onp.matmul(possible, onp.transpose(probs))
  shares = states / onp.where(total > 0, total, 1.0)
  counts = onp.matmul(onp.transpose(shares), possible) * probs
  index = {x: i for i, x in enumerate(hidden.states)}
  pairs = [(index[x], index[y]) for x, y in hidden.errors.values()]
  wrong = onp.asarray([counts[i, j] for i, j in pairs])
  right = onp.asarray([counts[i, i] for i, _ in pairs])
  return onp.where(
    wrong + right > 0,
    _log(wrong) - _log(right),
    smoothing.on_host(log_odds),
  )


def _log(x: onp.ndarray) -> onp.ndarray:
  return onp.log(onp.maximum(x, _TINY))
