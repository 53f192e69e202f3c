"""Hazard ratios and probabilities that are parameters of multi-state models."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy as onp

from phasic import inference
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.internal.tables import TableLike
from phasic.multistate.answers import rate_tables
from phasic.multistate.data import panel_columns
from phasic.multistate.likelihood import initial_states
from phasic.multistate.likelihood import likelihoods
from phasic.multistate.likelihood import models


@dataclasses.dataclass(frozen=True, eq=False)
class HazardRatios:
  """Ratios of intensities by name, with intervals; it prints as a table.

  Attributes:
    names: of the k ratios: the covariate and the rate.
    interval: the ratios and ends of intervals, (k,).

  Example: a ratio, and an interval that includes one.

    >>> import numpy as np
    >>> from phasic import inference, multistate
    >>> interval = inference.ConfidenceInterval(
    ...   np.asarray([1.5]), np.asarray([0.9]), np.asarray([2.5]), 0.95, "wald"
    ... )
    >>> print(multistate.HazardRatios(("age, well -> ill",), interval))
                      hazard ratio  95 % low  95 % high
    age, well -> ill           1.5       0.9        2.5
  """

  names: tuple[str, ...]
  interval: inference.ConfidenceInterval

  def __str__(self) -> str:
    percent = f"{100.0 * self.interval.confidence_level:g} %"
    heads = ["", "hazard ratio", f"{percent} low", f"{percent} high"]
    columns = [
      onp.asarray(x)
      for x in (self.interval.estimate, self.interval.low, self.interval.high)
    ]
    lines = [
      [name, *(f"{float(column[i]):.6g}" for column in columns)]
      for i, name in enumerate(self.names)
    ]
    return panel_columns.table_text(heads, lines)

  def _repr_html_(self) -> str:
    return f"<pre>{self}</pre>"


def hazard_ratios(
  fit: inference.ModelFit,
  *,
  confidence_level: float = 0.95,
  method: str = "wald",
) -> HazardRatios:
  """Computes exponentials of the coefficients of rates, with intervals.

  A ratio is that of the intensities of two subjects whose column differs by
  one. Those of "time [5, inf)" compare a period with the first one.

  Args:
    fit: of a `MultiState` with effects or cuts.
    confidence_level: between zero and one.
    method: "wald", on the scale of the coefficients, or "profile".

  Returns:
    The ratios by name.

  Raises:
    TypeError: an argument has a wrong type.
    ValueError: the rates have no coefficients.

  Example: half of those without a drug fell ill, and a quarter of the others.

    >>> from phasic import inference, multistate
    >>> data = multistate.PanelData.from_table(
    ...   {
    ...     "id": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
    ...     "year": [0.0, 1.0] * 6,
    ...     "state": ["well", "ill", "well", "well", "well", "ill"]
    ...     + ["well"] * 6,
    ...     "drug": [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1],
    ...   },
    ...   subject="id",
    ...   time="year",
    ...   state="state",
    ...   covariates=["drug"],
    ... )
    >>> model = multistate.MultiState({"well": ["ill"]}, effects=["drug"])
    >>> ratios = multistate.hazard_ratios(inference.fit_mle(model, data))
    >>> print(ratios.names, f"{ratios.interval.estimate[0]:.4f}")
    ('drug, well -> ill',) 0.4150

  Reference: D. R. Cox, Regression models and life-tables, J. R. Stat. Soc. B 34,
    1972.
  """
  model = rate_tables.model_of(fit)
  names = tuple(models.bound_of(model).effects.labels)
  if not names:
    raise ValueError(
      "fit has rates without coefficients: hazard ratios need a model with "
      "effects or cuts"
    )
  logs = fit.confidence_interval(
    "effects", confidence_level=confidence_level, method=method
  )
  with onp.errstate(over="ignore"):
    ends = {
      name: onp.exp(getattr(logs, name)) for name in ("estimate", "low", "high")
    }
  return HazardRatios(names, logs._replace(**ends))


def label_probs(
  fit: inference.ModelFit,
  covariates: TableLike | None = None,
  *,
  confidence_level: float = 0.95,
  method: str = "wald",
) -> inference.ConfidenceInterval:
  """Computes the probabilities of labels in each state, with intervals.

  Args:
    fit: of a `MultiState` with misclassification.
    covariates: see `pmatrix`, of effects on wrong labels.
    confidence_level: between zero and one.
    method: "wald", on the scale of log odds, or "profile".

  Returns:
    P(label j | state i) and ends of intervals, (s, s), with the state in rows;
    (n, s, s) if covariates are a table.

  Raises:
    TypeError: an argument has a wrong type, or effects have no covariates.
    ValueError: the labels of the model are never wrong.

  Example: what a fit starts with, here, as it is not fitted.

    >>> from phasic import inference, multistate
    >>> data = multistate.PanelData.from_table(
    ...   {
    ...     "id": [1, 1, 1, 2, 2, 2],
    ...     "year": [0.0, 1.0, 2.0, 0.0, 1.0, 2.0],
    ...     "state": ["well", "ill", "well", "well", "ill", "ill"],
    ...   },
    ...   subject="id",
    ...   time="year",
    ...   state="state",
    ... )
    >>> model = multistate.MultiState(
    ...   {"well": ["ill"]},
    ...   initial_probs={"well": 1.0},
    ...   misclassification={"ill": {"well": 0.2}},
    ... )
    >>> fit = inference.fit_mle(model, data, fixed=["misclassification"])
    >>> print(multistate.label_probs(fit).estimate)
    [[1.  0. ]
     [0.2 0.8]]
  """
  table = rate_tables.read(fit, covariates, for_labels=True)
  hidden, errors = table.spec.hidden, table.bound.errors
  if not hidden.has_errors:
    raise ValueError(
      "fit has labels that are never wrong: probabilities of labels need a model "
      "with misclassification"
    )
  columns = table.label_columns()

  def probs(parameters: models.Parameters) -> Array:
    odds = parameters["misclassification"]
    logs = hidden.log_label_probs(
      odds,
      parameters.get("misclassification_effects"),
      likelihoods.like(columns, odds),
      errors.incidence,
    )
    return table.shaped(np.exp(logs))

  return fit.confidence_interval(
    probs, confidence_level=confidence_level, method=method, bounds=(0.0, 1.0)
  )


def initial_state_probs(
  fit: inference.ModelFit,
  *,
  confidence_level: float = 0.95,
  method: str = "wald",
) -> inference.ConfidenceInterval:
  """Computes the probabilities of states at the first row, with intervals.

  Args:
    fit: of a `MultiState` with initial probabilities.
    confidence_level: between zero and one.
    method: "wald", on the scale of log odds, or "profile".

  Returns:
    The probabilities and ends of intervals, (s,).

  Raises:
    TypeError: an argument has a wrong type.
    ValueError: the model takes the first states from the data.

  Example: one of three subjects is ill at first.

    >>> from phasic import inference, multistate
    >>> data = multistate.PanelData.from_table(
    ...   {
    ...     "id": [1, 1, 2, 2, 3, 3],
    ...     "year": [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
    ...     "state": ["well", "ill", "well", "well", "ill", "ill"],
    ...   },
    ...   subject="id",
    ...   time="year",
    ...   state="state",
    ... )
    >>> model = multistate.MultiState(
    ...   {"well": ["ill"]},
    ...   initial_probs={"well": 0.5, "ill": 0.5},
    ...   estimate_initial_probs=True,
    ... )
    >>> probs = multistate.initial_state_probs(inference.fit_mle(model, data))
    >>> print([f"{x:.4f}" for x in probs.estimate])
    ['0.6667', '0.3333']
  """
  spec = models.spec_of(rate_tables.model_of(fit))
  if spec.initial is None:
    raise ValueError(
      "fit has first states that are known: initial probabilities need a model "
      "with initial_probs"
    )
  size = len(spec.chain.states)
  members = onp.eye(size)[spec.chain.state_of]
  certain = onp.asarray(spec.initial) == 1.0

  def probs(parameters: models.Parameters) -> Array:
    dtype = static.dtype_name(parameters["rates"])
    logs = initial_states.log_probs(
      spec, parameters.get("initial_probs"), dtype
    )
    by_state = np.matmul(np.exp(logs)[None], likelihoods.like(members, logs))
    return np.where(certain, 1.0, by_state[0])

  return fit.confidence_interval(
    probs, confidence_level=confidence_level, method=method, bounds=(0.0, 1.0)
  )
