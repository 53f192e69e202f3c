"""Models with parameters, from which subjects are simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
from typing import Any

import numpy as onp

from phasic import inference
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.multistate.data import effects as effects_lib
from phasic.multistate.data import panel_data
from phasic.multistate.likelihood import initial_states
from phasic.multistate.likelihood import models
from phasic.multistate.likelihood import reading


@dataclasses.dataclass(frozen=True, eq=False)
class Source:
  """A model with parameters.

  Attributes:
    spec: the arguments of the model.
    effects: coefficients on rates.
    errors: coefficients on wrong labels.
    parameters: arrays and distributions by name.
  """

  spec: reading.Spec
  effects: effects_lib.Columns
  errors: effects_lib.Columns
  parameters: Mapping[str, Any]


def read(
  fit: object,
  rows: panel_data.PanelData,
  given: Mapping[str, Any] | None,
) -> Source:
  """Reads a fit, or a model with parameters."""
  if given is not None and not isinstance(given, Mapping):
    raise TypeError(
      f"parameters is {raw_arguments.shown(given)}: it must map names to arrays"
    )
  model = fit.model if isinstance(fit, inference.ModelFit) else fit
  if not isinstance(model, models.MultiState):
    raise TypeError(
      f"fit is {type(fit).__name__}: it must be the ModelFit of a MultiState, or "
      "a MultiState"
    )
  spec = models.spec_of(model)
  if isinstance(fit, inference.ModelFit):
    bound = models.bound_of(model)
    effects, errors = bound.effects, bound.errors
    default = dict(fit.parameters)
  else:
    table = dict(rows.covariates)
    effects = effects_lib.read(spec.effects, table, spec.chain.rates, spec.cuts)
    errors = effects_lib.read(spec.errors, table, list(spec.hidden.errors))
    default = _starting(spec)
  labels = {
    "rates": spec.chain.rates,
    "effects": effects.labels,
    "initial_probs": initial_states.possible_states(spec)[1:],
    "misclassification": tuple(spec.hidden.errors),
    "misclassification_effects": errors.labels,
  }
  parameters = dict(default)
  for name, x in (given or {}).items():
    if name not in labels and name not in default:
      raise ValueError(
        f"parameters has {name!r}: it must be one of "
        f"{', '.join(dict.fromkeys([*default, *labels]))}"
      )
    parameters[name] = _numbers(name, x, labels.get(name), default.get(name))
  for name in ("rates", "effects", "misclassification_effects"):
    if labels[name] and name not in parameters:
      raise ValueError(
        f"parameters has no {name!r}: give the numbers of "
        f"{', '.join(labels[name])}"
      )
  return Source(spec, effects, errors, parameters)


def _starting(spec: reading.Spec) -> dict[str, Any]:
  """Returns starting values of a model that has no data."""
  start: dict[str, Any] = dict(spec.hidden.parts())
  chain = spec.chain
  if set(chain.rates) <= set(chain.starts):
    start["rates"] = onp.asarray([chain.starts[x] for x in chain.rates])
  if spec.estimates_initial:
    start["initial_probs"] = initial_states.start_log_odds(spec)
  if spec.hidden.has_errors:
    start["misclassification"] = spec.hidden.starts
  return start


def _numbers(
  name: str, x: Any, labels: Sequence[str] | None, default: Any
) -> Any:
  """Reads one array of parameters; by label if it is a mapping."""
  if labels is None:
    return x
  if not isinstance(x, Mapping):
    values = onp.asarray(raw_arguments.host_array(x, name), onp.float64)
    if onp.shape(values) != (len(labels),):
      raise ValueError(
        f"{name} has shape {onp.shape(values)}: it must be ({len(labels)},), the "
        f"numbers of {', '.join(labels)}"
      )
    return values
  for label in x:
    if label not in labels:
      raise ValueError(
        f"{name} has {label!r}: it must be one of {', '.join(labels)}"
      )
  known: dict[str, float] = {}
  if default is not None:
    host = onp.asarray(static.concrete(default), onp.float64)
    known = dict(zip(labels, host.tolist(), strict=True))
  known |= {label: float(value) for label, value in x.items()}
  missing = [label for label in labels if label not in known]
  if missing:
    raise ValueError(f"{name} has no {missing[0]!r}: give its number")
  return onp.asarray([known[label] for label in labels])


def array(x: object) -> Any:
  """Returns numbers in the widest precision."""
  return structures.cast(x, static.wide_float())
