"""What is wrong with the values of a model, and how they were mended."""

from __future__ import annotations

from phasic.math.model import operands
from phasic.math.model import plausible
from phasic.math.model import single_rounding
from phasic.math.model import value_checks
from phasic.math.model.model_types import Given


def examined(
  model: list[Given], discrete: bool
) -> tuple[list[Given], list[str]]:
  """Returns a model with its sums mended, and messages on what breaks a rule.

  Args:
    model: the four arrays of a model as they were given, Nones among them.
    discrete: whether the chain goes in steps.

  Returns:
    The four arrays, those that were not mended as they were given; and one
    message for each thing that was found, none where types or shapes do not
    fit, about which the functions of `math` raise.
  """
  names = operands.names(discrete)
  names = (*names[:2], *names[-2:])
  try:
    arrays = list(operands.convert(*model, names=names))
  except (TypeError, ValueError):
    return model, []
  known = plausible.host_model(arrays)
  if known is None:
    return model, []
  mended, messages = list(model), []
  constraints = (
    "subprobabilities",
    "subtransition" if discrete else "subgenerator",
  )
  for k, constraint in enumerate(constraints):
    if operands.is_edges(arrays[k]):
      continue
    x, divisors, text = single_rounding.mended(
      names[k], arrays[k], known[k], constraint, known[2], known[3]
    )
    if text:
      messages.append(text)
      arrays[k] = mended[k] = x
    if divisors is not None and k == 1 and arrays[2] is not None:
      arrays[2] = mended[2] = arrays[2] / divisors
  try:
    initial_probs, matrix, exits, prob_zero = arrays
    value_checks.check_model(
      initial_probs, matrix, exits, prob_zero, discrete, free=True
    )
  except ValueError as error:
    messages.append(str(error))
  return mended, messages
