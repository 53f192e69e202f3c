"""Maps public names such as "log_prob" to the kernel's function names."""

from __future__ import annotations

from phasic.internal import raw_arguments

KINDS = {
  "log_prob": "log_density",
  "prob": "density",
  "log_survival_function": "log_survival",
  "survival_function": "survival",
  "log_cdf": "log_cdf",
  "cdf": "cdf",
}


def kind_of(name: str, argument: str = "method") -> str:
  """Returns the kernel's name of a function, given its public name.

  Args:
    name: the function's public name.
    argument: the argument that the caller got the name from, for messages.

  Raises:
    ValueError: there is no such function.
  """
  if not isinstance(name, str) or name not in KINDS:
    shown = raw_arguments.shown(name)
    raise ValueError(
      f"{argument} is {shown}: it must be one of {', '.join(KINDS)}"
    )
  return KINDS[name]
