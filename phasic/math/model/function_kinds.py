"""Maps public names such as "log_prob" to the kernel's function names."""

from __future__ import annotations

from collections.abc import Sequence

from phasic.internal import raw_arguments

KINDS = {
  "log_prob": "log_density",
  "prob": "density",
  "log_survival_function": "log_survival",
  "survival_function": "survival",
  "log_cdf": "log_cdf",
  "cdf": "cdf",
}


def kind_of(name: str, argument: str, more_names: Sequence[str] = ()) -> str:
  """Returns the kernel's name of a function, given its public name.

  Args:
    name: the function's public name.
    argument: the argument that the caller got the name from, for messages.
    more_names: further names that the message lists.

  Raises:
    ValueError: there is no such function.
  """
  if name not in KINDS:
    names = ", ".join((*KINDS, *more_names))
    shown = raw_arguments.shown(name)
    raise ValueError(f"{argument} is {shown}: it must be one of {names}")
  return KINDS[name]
