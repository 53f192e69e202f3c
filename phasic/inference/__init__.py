"""From data, censored and truncated as they are, to parameters."""

from phasic.inference.companions import log_likelihood_vjp
from phasic.inference.em import EmStep
from phasic.inference.em import em_step
from phasic.inference.fits import Fit
from phasic.inference.fits import Record
from phasic.inference.likelihood import log_likelihood
from phasic.inference.mle import fit_mle
from phasic.inference.observations import Observations

__all__ = [
  "EmStep",
  "Fit",
  "Observations",
  "Record",
  "em_step",
  "fit_mle",
  "log_likelihood",
  "log_likelihood_vjp",
]
