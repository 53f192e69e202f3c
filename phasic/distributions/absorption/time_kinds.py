"""The functions of `math` for chains in continuous and in discrete time."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from phasic.internal.arrays import Array
from phasic.math.likelihood import hazards
from phasic.math.model import value_checks
from phasic.math.moments import discrete_moments
from phasic.math.moments import discrete_passages
from phasic.math.moments import generating_functions
from phasic.math.moments import moments
from phasic.math.moments import passages
from phasic.math.moments.occupancy import discrete_occupancy
from phasic.math.moments.occupancy import occupancy

_Function = Callable[..., Array]


class Functions(NamedTuple):
  """The functions of `math` for one kind of time.

  Attributes:
    check_value: returns values, checked to be in the support.
    support: the name of the constraint of values.
  """

  check_value: Callable[[Array], Array]
  support: str
  raw_moments: _Function
  expected_visits: _Function
  occupancy: _Function
  hazard_function: _Function
  log_hazard_function: _Function
  laplace_transform: _Function
  moment_generating_function: _Function


CONTINUOUS = Functions(
  check_value=value_checks.check_times,
  support="nonnegative",
  raw_moments=moments.raw_moments,
  expected_visits=passages.expected_visits,
  occupancy=occupancy,
  hazard_function=hazards.hazard_function,
  log_hazard_function=hazards.log_hazard_function,
  laplace_transform=passages.laplace_transform,
  moment_generating_function=generating_functions.moment_generating_function,
)
DISCRETE = Functions(
  check_value=value_checks.check_counts,
  support="nonnegative_integer",
  raw_moments=discrete_moments.raw_moments,
  expected_visits=discrete_passages.expected_visits,
  occupancy=discrete_occupancy,
  hazard_function=hazards.discrete_hazard_function,
  log_hazard_function=hazards.discrete_log_hazard_function,
  laplace_transform=generating_functions.discrete_laplace_transform,
  moment_generating_function=(
    generating_functions.discrete_moment_generating_function
  ),
)
