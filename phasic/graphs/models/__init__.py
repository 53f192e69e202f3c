"""Ready-made models: graphs of well-known processes.

Each is a dozen lines over `Graph.from_transitions`, with named parameters, and
a pattern for models of your own.
"""

from phasic.graphs.models.coalescent_models import block_counting
from phasic.graphs.models.coalescent_models import island_coalescent
from phasic.graphs.models.coalescent_models import isolation_with_migration
from phasic.graphs.models.coalescent_models import kingman
from phasic.graphs.models.queue_models import busy_period
from phasic.graphs.models.queue_models import machine_repair
from phasic.graphs.models.queue_models import tandem_queue
from phasic.graphs.models.spectra import folded_spectrum
from phasic.graphs.models.spectra import kingman_spectrum
from phasic.graphs.models.spectra import spectrum_log_likelihood
from phasic.graphs.models.survival_models import birth_death
from phasic.graphs.models.survival_models import illness_death

__all__ = [
  "birth_death",
  "block_counting",
  "busy_period",
  "folded_spectrum",
  "illness_death",
  "island_coalescent",
  "isolation_with_migration",
  "kingman",
  "kingman_spectrum",
  "machine_repair",
  "spectrum_log_likelihood",
  "tandem_queue",
]
