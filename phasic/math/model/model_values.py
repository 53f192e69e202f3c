"""Checks and corrections of the values of a model."""

from __future__ import annotations

from phasic.math.model import operands
from phasic.math.model import plausible
from phasic.math.model import single_rounding
from phasic.math.model import value_checks
from phasic.math.model.model_types import Given


def examined(
  model: list[Given], discrete: bool
) -> tuple[list[Given], list[str]]:
  """Corrects rounding errors in a model's sums, and lists its invalid values.

  Args:
    model: the four arrays of a model as given; any may be None.
    discrete: whether time is discrete.

  Returns:
    The four arrays, as given unless corrected; and one message for each
    finding. There are no messages if types or shapes do not fit, as the
    functions of `math` raise for these.
  """
  names = operands.names(discrete)
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
