"""Rates and densities of a multi-state model at given parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.multistate.likelihood import initial_states
from phasic.multistate.likelihood import layouts
from phasic.multistate.likelihood import likelihoods
from phasic.multistate.likelihood import reading


class Evaluated(NamedTuple):
  """What the likelihood needs of the parameters.

  Attributes:
    rates: of edges, (d, m).
    log_initial: of phases at the first observation, (p,), or None.
    log_emissions: of observations of hidden states, (e, p), or None.
  """

  rates: Array
  log_initial: Array | None
  log_emissions: Array | None


def evaluated(
  spec: reading.Spec,
  bound: reading.Bound,
  parameters: Mapping[str, Any],
  data: layouts.Layout | reading.Read,
) -> Evaluated:
  """Computes rates and log densities.

  Args:
    spec: the arguments of the model.
    bound: what it has read from its data.
    parameters: arrays and distributions, by name.
    data: what its rows say.
  """
  rates = parameters["rates"]
  dtype = static.dtype_name(rates)
  edge_rates = likelihoods.edge_rates(
    spec.chain,
    rates,
    parameters.get("effects"),
    structures.cast(data.columns, dtype),
    bound.effects.incidence,
  )
  log_emissions = None
  if data.emissions is not None:
    labels = None
    if spec.hidden.has_errors:
      labels = spec.hidden.log_label_probs(
        parameters["misclassification"],
        parameters.get("misclassification_effects"),
        structures.cast(data.misclassified, dtype),
        bound.errors.incidence,
      )
    log_emissions = spec.hidden.log_emissions(
      spec.chain, data.emissions, parameters, labels, dtype
    )
  log_initial = None
  if spec.initial is not None:
    log_initial = initial_states.log_probs(
      spec, parameters.get("initial_probs"), dtype
    )
  return Evaluated(edge_rates, log_initial, log_emissions)
