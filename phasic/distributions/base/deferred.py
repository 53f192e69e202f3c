"""Deferred arrays of TensorFlow Probability as parameters.

They are computed when they are used: `tfp.util.DeferredTensor` is a function of
an array, and `tfp.util.TransformedVariable` one of a variable. TensorFlow's
distributions keep them, see `structures.is_variable`. Here are the rules for
NumPy and JAX, which have no variables, and for Keras's variables. The classes
are recognized by their attributes, so that TensorFlow Probability and Keras are
not imported.
"""

from __future__ import annotations

from collections.abc import Mapping

from phasic.distributions.base import structure
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.internal import structures
from phasic.internal import user_warnings

MODE = "numpy"


def settled(name: str, value: ParameterValue) -> ParameterValue:
  """Replaces deferred arrays by their values, in NumPy and JAX.

  In TensorFlow they are kept, and variables of Keras are replaced by the
  `tf.Variable` that each of them holds.

  Args:
    name: the parameter's name.
    value: an array, a mapping of arrays or edges.

  Raises:
    TypeError: a deferred array depends on a variable, whose later changes would
      be ignored.
  """
  if isinstance(value, Mapping):
    return {k: settled(f"{name}[{k!r}]", x) for k, x in value.items()}
  if structure.is_edges(value):
    arrays = value._asdict().items()
    return value._replace(**{k: settled(f"{name}.{k}", x) for k, x in arrays})
  return _value_of(name, value)


def warn_of_variables(what: str, *given: object) -> None:
  """Warns if the values of variables are taken, so that later ones are ignored.

  In a gradient tape and in a `tf.function` variables are followed.

  Args:
    what: what takes them, for the message.
    *given: distributions, or arrays.
  """
  if user_warnings.is_derived():
    return
  if any(structures.freezes_variables(x) for x in given):
    user_warnings.warn(
      f"{what} takes the current values of variables: the result does not follow "
      "their changes, and has no derivatives in them; make it where it is used, "
      "in the tape or the tf.function"
    )


def _value_of(name: str, x: ParameterValue) -> ParameterValue:
  """Returns what `settled` puts in the place of an array."""
  if MODE == "tf":
    # In a scope that gives a Keras variable another value, `value` is a tensor:
    # `x` is then converted, which gives that value.
    inner = getattr(x, "value", None)
    return inner if structures.is_variable(inner) else x
  else:
    if not _is_deferred(x):
      return x
    if _may_change(x):
      raise TypeError(
        f"{name} is a {type(x).__name__}, which is computed from a variable: "
        "distributions of NumPy and JAX hold values, and would ignore later "
        "changes of the variable; pass the current value, variable[...], or "
        "make the distribution in the function that you differentiate, from "
        "bijector.forward(x) of its argument x"
      )
    # An index computes the value, of traced arrays too.
    return x[...]


def _is_deferred(x: object) -> bool:
  return hasattr(type(x), "pretransformed_input")


def _may_change(x: ParameterValue) -> bool:
  """Returns whether an array is a variable, or is computed from one."""
  if hasattr(x, "assign"):
    return True
  if not _is_deferred(x):
    return False
  return x.also_track is not None or _may_change(x.pretransformed_input)
