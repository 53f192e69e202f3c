"""Arguments of `math` for a distribution's chain, and for each of its causes."""

from typing import Any

from phasic.distributions.absorption import competing_risks
from phasic.math.likelihood import competing_risks as models

Model = tuple[Any, Any, Any, Any]


def model(chain: Any) -> Model:
  """Returns initial masses, rates, exits and the mass at zero, checked."""
  return chain._model()


def is_discrete(chain: Any) -> bool:
  """Whether the chain goes in steps."""
  return chain._DISCRETE


def causes(chain: Any) -> tuple[str | None, ...] | None:
  """Returns the causes of absorption; None if the chain tells none apart."""
  if not isinstance(chain, competing_risks.CompetingRisks):
    return None
  return chain._causes()


def models_by_cause(chain: Any) -> list[Model]:
  """Returns the model of the time and each cause, with one phase more.

  The last phase is where the other causes lead.
  """
  initial_probs, edges, exits, atom = chain._by_cause()
  own = chain._cause_of_atom()
  return [
    models.of_cause(number, initial_probs, edges, exits, atom, number == own)
    for number in range(len(chain._causes()))
  ]
