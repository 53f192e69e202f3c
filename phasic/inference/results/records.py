"""The record of a fit's optimization."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

from phasic.saving import texts


class Record(NamedTuple):
  """The record of an optimization: convergence, message and counts.

  Attributes:
    method: the name of the method, such as "EM" or "L-BFGS-B".
    converged: whether it ended by itself.
    message: why it ended.
    log_likelihoods: after each step, the start first.
    gradient_norm: the largest slope that is left, of the log likelihood over
      the sum of the weights, in the unconstrained parameters; NaN where it was
      not computed.
    num_evaluations: how often the log likelihood was computed.
    reached: the log likelihoods at which the searches from each start ended.
    tried: what these starts were: "dist", the given one; "data, 1", suggested by
      the data; "starts[0]"; "near dist, 1", drawn at random.

  Example: the log likelihood at the start, -8, and at the end, -4 (log(2) + 1).

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> data = inference.Observations([1.0, 1.0, 2.0, 4.0])
    >>> record = inference.fit_mle(Erlang(1, 1.0), data).record
    >>> record.converged
    True
    >>> [f"{record.log_likelihoods[i]:.4f}" for i in (0, -1)]
    ['-8.0000', '-6.7726']
  """

  method: str
  converged: bool
  message: str
  log_likelihoods: tuple[float, ...]
  gradient_norm: float = math.nan
  num_evaluations: int = 0
  reached: tuple[float, ...] = ()
  tried: tuple[str, ...] = ()

  def _saved_parts(self) -> dict[str, object]:
    return self._asdict()

  @classmethod
  def _from_saved_parts(cls, parts: dict[str, Any]) -> Self:
    texts.check_keys(parts, cls._fields, "parameters")
    for name in ("log_likelihoods", "reached"):
      parts[name] = numbers(parts[name], name)
    parts["gradient_norm"] = number(parts["gradient_norm"], "gradient_norm")
    for name, kind in _OF_RECORD.items():
      check_type(parts[name], name, kind)
    parts["tried"] = tuple(texts.check_strings(parts["tried"], "tried"))
    return cls(**parts)


# The types of the parts of saved records; others are checked as lists.
_OF_RECORD = {
  "method": str,
  "converged": bool,
  "message": str,
  "num_evaluations": int,
}


def check_type(x: object, name: str, kind: type) -> None:
  """Raises TypeError unless a part that was read is of a type."""
  if not isinstance(x, kind) or (isinstance(x, bool) and kind is not bool):
    raise TypeError(f"{name} is {type(x).__name__}: it must be {kind.__name__}")


def numbers(x: object, name: str) -> tuple[float, ...]:
  """Returns a part that must be a list of floats as a tuple."""
  return tuple(
    number(item, f"{name}[{i}]")
    for i, item in enumerate(texts.check_list(x, name))
  )


def number(x: object, name: str) -> float:
  if not isinstance(x, (float, int)) or isinstance(x, bool):
    raise TypeError(f"{name} is {type(x).__name__}: it must be a number")
  return float(x)
