"""Arguments of `math` for a distribution's chain, and for each of its causes."""

from __future__ import annotations

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import competing_risks
from phasic.math.likelihood import competing_risks as models
from phasic.math.model.model_types import Model


def model(chain: absorption_time.AbsorptionTime) -> Model:
  """Returns initial masses, rates, exits and the mass at zero, checked."""
  return chain._model()


def is_discrete(chain: absorption_time.AbsorptionTime) -> bool:
  """Returns whether time is discrete."""
  return chain._DISCRETE


def causes(chain: object) -> tuple[str | None, ...] | None:
  """Returns the causes of absorption; None if the chain has none."""
  if not isinstance(chain, competing_risks.CompetingRisks):
    return None
  return chain._causes()


def models_by_cause(chain: competing_risks.CompetingRisks) -> list[Model]:
  """Returns the model of the time and each cause, with one phase more.

  The last phase is where the other causes lead.
  """
  initial_probs, edges, exits, atom = chain._by_cause()
  own = chain._cause_of_atom()
  return [
    models.of_cause(number, initial_probs, edges, exits, atom, number == own)
    for number in range(len(chain._causes()))
  ]
