"""Type names of distributions for signatures."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from phasic.distributions.base import distribution as distribution_lib

Distribution: TypeAlias = distribution_lib.Distribution
# A family of distributions: a fit has the family of its start.
DistributionT = TypeVar("DistributionT", bound=distribution_lib.Distribution)
