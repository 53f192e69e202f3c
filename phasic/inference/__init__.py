"""From data, censored and truncated as they are, to parameters."""

from phasic.inference.likelihood import log_likelihood
from phasic.inference.observations import Observations

__all__ = ["Observations", "log_likelihood"]
