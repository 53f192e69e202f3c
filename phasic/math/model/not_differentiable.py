"""Results without derivatives: differentiating them raises an error."""

from __future__ import annotations

from typing import NoReturn, TypeVar

from phasic.internal import custom_gradient
from phasic.internal.arrays import Array

_T = TypeVar("_T")


def _forward(
  advice: str, value: Array, *arrays: Array
) -> tuple[Array, tuple[()]]:
  return attach(advice, value, *arrays), ()


def _refuse(advice: str, *arguments: object) -> NoReturn:
  """Raises instead of a vjp or a jvp."""
  raise NotImplementedError(advice)


@custom_gradient.custom_gradient(
  vjp_fwd=_forward,
  vjp_bwd=_refuse,
  jvp_fn=_refuse,
  nondiff_argnums=(0,),
  eager=True,
)
def attach(advice: str, value: _T, *arrays: object) -> _T:
  """Returns `value`; differentiating it with respect to the arrays raises.

  Args:
    advice: the message of NotImplementedError.
    value: an array that is a constant for the frameworks.
    *arrays: the arrays that the value was computed from.
  """
  return value
