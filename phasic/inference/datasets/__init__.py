"""Data sets for examples: our own simulations, which are free of rights (CC0).

Their values are the same on all machines and with all versions of NumPy, and the
true models are known: the docstring of each says them.
"""

from phasic.inference.datasets.dataset import Dataset
from phasic.inference.datasets.simulations import claims
from phasic.inference.datasets.simulations import clinic_visits
from phasic.inference.datasets.simulations import pumps
from phasic.inference.datasets.simulations import trial

__all__ = [
  "Dataset",
  "claims",
  "clinic_visits",
  "pumps",
  "trial",
]
