"""Types of distributions, for annotations."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from phasic.distributions.base import distribution as distribution_lib

Distribution: TypeAlias = distribution_lib.Distribution
# The family of a distribution, which a fit does not change.
DistributionT = TypeVar("DistributionT", bound=distribution_lib.Distribution)
