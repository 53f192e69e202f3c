"""Wraps the public functions of `math` so that they warn of bad values and NaN."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import functools
import inspect
from typing import Any

import numpy as onp

from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import Tree
from phasic.math.calls import nan_results
from phasic.math.model import nan_table
from phasic.math.model import operands
from phasic.math.model import phase_arguments
from phasic.math.model import plausible
from phasic.math.model import single_rounding
from phasic.math.model import value_checks
from phasic.math.model import value_rules
from phasic.math.model.model_types import Given

# This maps names of arguments to the ranges of their valid values. The range of
# a function's first argument is in `nan_table`.
_BY_NAME = {
  "mark_rates": value_rules.TIME,
  "phase_weights": value_rules.WEIGHT,
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
  discrete = "subtransition" in names
  whole = operands.argument_names(discrete)
  has_masses = whole[0] in names
  if name == _UNCHECKED or not (has_masses or {whole[1], "value"} <= {*names}):
    return function
  first = names.index(whole[0] if has_masses else whole[1])
  hint = ""
  if has_masses and first == 1:
    hint = f"{names[0]} comes first: {name}({', '.join(names[:3])})"
  wanted = names[first : first + (4 if has_masses else 2)]
  places = range(first, first + len(wanted))
  # Transitions exist in chains without absorption too.
  may_be_closed = not has_masses or "phase_weights" in names
  rules = _rules(name, names[:first], discrete)

  @functools.wraps(function)
  def call(*args: Tree, **kwargs: Tree) -> object:
    model = [
      args[place] if place < len(args) else kwargs.get(argument)
      for argument, place in zip(wanted, places, strict=True)
    ]
    if not has_masses:
      model = [_some_masses(names, args, kwargs), *model, None]
    num_warnings = user_warnings.count()
    for k, rule in rules.items():
      value = args[k] if len(args) > k else kwargs.get(names[k])
      if value is not None:
        value_rules.warn(name, names[k], value, rule)
    if plausible.is_given_model(model, discrete):
      return warned(num_warnings, hinted(*args, **kwargs), args, kwargs)
    mended, messages = _examined(model, discrete, may_be_closed)
    if messages and not user_warnings.is_derived():
      if hint and _has_model_first(args, discrete):
        messages = [*messages, hint]
      user_warnings.warn(f"{name}: {'; '.join(messages)}")
    if not has_masses:
      mended, model = mended[1:3], model[1:3]
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


def _some_masses(
  names: Sequence[str],
  args: Sequence[Given],
  kwargs: Mapping[str, object],
) -> onp.ndarray | None:
  """Returns masses of the phases of a model that is given without masses.

  Args:
    names: the names of the function's arguments.
    args: the positional arguments of the call.
    kwargs: its keyword arguments.
  """
  given: dict[str, Any] = {**dict(zip(names, args, strict=False)), **kwargs}
  name = "subgenerator" if "subgenerator" in names else "subtransition"
  try:
    if given.get("vectors") is not None:
      vectors = structures.as_array(given["vectors"], None, "vectors")
      p = static.shape(vectors)[-1]
    else:
      causes = given.get("num_causes") or 1
      p = phase_arguments.num_phases(
        name, given.get(name), given.get("num_phases"), causes
      )
      p = p + causes if operands.is_edges(given.get(name)) else p
    masses: onp.ndarray = onp.zeros(p)
    masses[0] = 1.0
  except (IndexError, TypeError, ValueError):
    return None  # The function raises.
  return masses


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
  _, messages = _examined(model, discrete, False)
  return not messages


def _examined(
  model: list[Given], discrete: bool, may_be_closed: bool
) -> tuple[list[Given], list[str]]:
  """Corrects rounding errors in a model's sums, and lists its invalid values.

  Args:
    model: the four arrays of a model as given; any may be None.
    discrete: whether time is discrete.
    may_be_closed: whether a matrix may have no exits.

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
        initial_probs,
        matrix,
        exits,
        prob_zero,
        discrete,
        free=True,
        may_be_closed=may_be_closed,
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
  methods = [known] if known and arguments[:1] == (known.argument,) else []
  for argument, first_rule in nan_table.ARGUMENTS.get(name, {}).items():
    if argument in arguments:
      methods.append(nan_table.Method("", argument, first_rule))
  for method in methods:
    rule = nan_table.rule(method, discrete)
    if rule is not None:
      rules[arguments.index(method.argument)] = rule
  return rules
