"""Wraps the public functions of `math` so that they warn of bad values and NaN."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import functools
import inspect

import numpy as onp

from phasic.internal import user_warnings
from phasic.internal.arrays import Tree
from phasic.math.calls import nan_results
from phasic.math.model import nan_table
from phasic.math.model import operands
from phasic.math.model import plausible
from phasic.math.model import single_rounding
from phasic.math.model import value_checks
from phasic.math.model import value_rules
from phasic.math.model.model_types import Given

# This maps names of arguments to the ranges of their valid values. The range of
# a function's first argument is in `nan_table`.
_BY_NAME = {
  "mark_rates": value_rules.TIME,
  "rewards": value_rules.REWARD,
  "u": value_rules.TIME,
}
# `diagnose` explains why results are NaN, so invalid models are not reported
# there.
_UNCHECKED = "diagnose"


def checked(function: object, package: str, name: str) -> object:
  """Wraps a function so that it warns of an invalid model.

  Values are checked if they are on the host, see `plausible`. Sums within the
  rounding of float32 are corrected. Classes, and functions without a model, are
  returned unchanged.

  Args:
    function: a function.
    package: the public module of the function.
    name: its name there.
  """
  if inspect.isclass(function) or not callable(function):
    return function
  if inspect.isfunction(function):
    # Python's own errors about the arguments of a call begin with this name.
    function.__qualname__ = name
  names = tuple(inspect.signature(function).parameters)
  if "initial_probs" not in names or name == _UNCHECKED:
    return function
  first = names.index("initial_probs")
  hint = ""
  if first == 1:
    hint = f"{names[0]} comes first: {name}({', '.join(names[:3])})"
  places = range(first, first + 4)
  wanted = names[first : first + 4]
  discrete = wanted == operands.argument_names(True)
  rules = _rules(name, names[:first], discrete)

  @functools.wraps(function)
  def call(*args: Tree, **kwargs: Tree) -> object:
    model = [
      args[place] if place < len(args) else kwargs.get(argument)
      for argument, place in zip(wanted, places, strict=True)
    ]
    num_warnings = user_warnings.count()
    for k, rule in rules.items():
      value = args[k] if len(args) > k else kwargs.get(names[k])
      if value is not None:
        value_rules.warn(name, names[k], value, rule)
    if plausible.is_given_model(model, discrete):
      return warned(num_warnings, hinted(*args, **kwargs), args, kwargs)
    mended, messages = _examined(model, discrete)
    if messages and not user_warnings.is_derived():
      if hint and _has_model_first(args, discrete):
        messages = [*messages, hint]
      user_warnings.warn(f"{name}: {'; '.join(messages)}")
    for argument, place, x, before in zip(
      wanted, places, mended, model, strict=True
    ):
      if x is not before:
        if place < len(args):
          args = (*args[:place], x, *args[place + 1 :])
        else:
          kwargs[argument] = x
    return warned(num_warnings, hinted(*args, **kwargs), args, kwargs)

  def warned(
    num_warnings: int,
    result: object,
    args: Sequence[object],
    kwargs: Mapping[str, object],
  ) -> object:
    """Returns the result; warns of NaN in it unless the call has warned."""
    if user_warnings.count() == num_warnings:
      nan_results.warn(package, name, result, args, kwargs)
    return result

  def hinted(*args: Given, **kwargs: object) -> object:
    """Calls the function; adds a hint to errors if the model comes first."""
    try:
      return function(*args, **kwargs)
    except (TypeError, ValueError) as error:
      kind = type(error)
      if kind not in (TypeError, ValueError) or not hint:
        raise
      if not _has_model_first(args, discrete):
        raise
      raise kind(f"{error}; {hint}") from None

  # Pickle stores a function by its public name, so the wrapper has this name.
  call.__module__, call.__qualname__, call.__name__ = package, name, name
  return call


def _has_model_first(args: Sequence[Given], discrete: bool) -> bool:
  """Returns whether a model was passed first, in place of the value.

  Args:
    args: positional arguments of a function whose value comes first.
    discrete: whether time is discrete.
  """
  if len(args) < 3:
    return False
  exits, atom = (*args[3:5], None, None)[:2]
  model = [args[0], args[1], exits, atom]
  try:
    operands.convert(*model, names=operands.argument_names(discrete))
  except (TypeError, ValueError):
    return False
  _, messages = _examined(model, discrete)
  return not messages


def _examined(
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
  names = operands.argument_names(discrete)
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
    # If a mass at zero is given, the initial masses need not sum to one by
    # themselves: they stay as they are.
    if operands.is_edges(arrays[k]) or (k == 0 and known[3] is not None):
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
    with onp.errstate(all="ignore"):
      value_checks.check_model(
        initial_probs, matrix, exits, prob_zero, discrete, free=True
      )
  except ValueError as error:
    messages.append(str(error))
  return mended, messages


def _rules(
  name: str, arguments: tuple[str, ...], discrete: bool
) -> dict[int, value_rules.ValueRule]:
  """Returns the valid ranges of the arguments before the model, by index."""
  rules = {}
  # The discrete reward transform checks its rewards itself.
  if name != "reward_transform" or not discrete:
    rules = {
      arguments.index(n): rule for n, rule in _BY_NAME.items() if n in arguments
    }
  known = nan_table.METHODS.get(name)
  for argument, first_rule in nan_table.FIRST_ARGUMENTS.get(name, {}).items():
    if arguments[:1] == (argument,):
      known = nan_table.Method("", argument, first_rule)
  rule = nan_table.rule(known, discrete) if known else None
  if known and rule and arguments[:1] == (known.argument,):
    rules[0] = rule
  return rules
