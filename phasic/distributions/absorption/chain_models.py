"""Converts distributions to the arguments with which `math` describes chains."""

from __future__ import annotations

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import competing_risks
from phasic.math.likelihood import competing_risks as models
from phasic.math.model.model_types import Model


def model(chain: absorption_time.AbsorptionTime) -> Model:
  """Returns the checked initial masses, rates, exits and mass at zero."""
  return chain._model()


def is_discrete(chain: absorption_time.AbsorptionTime) -> bool:
  """Returns whether the chain is one in discrete time."""
  return chain._DISCRETE


def causes(chain: object) -> tuple[str | None, ...] | None:
  """Returns the names of the causes of absorption; None if it has none."""
  if not isinstance(chain, competing_risks.CompetingRisks):
    return None
  return chain._causes()


def models_by_cause(chain: competing_risks.CompetingRisks) -> list[Model]:
  """Returns one model per cause, of the time until absorption by that cause.

  The last phase is where the other causes lead.
  """
  initial_probs, edges, exits, atom = chain._by_cause()
  own = chain._cause_of_atom()
  return [
    models.of_cause(number, initial_probs, edges, exits, atom, number == own)
    for number in range(len(chain._causes()))
  ]
