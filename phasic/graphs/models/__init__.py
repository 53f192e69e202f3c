"""Ready-made models: graphs of well-known processes.

Each is a few lines over `Graph.from_transitions`, with named parameters, and a
pattern for models of your own. Coalescents know their numbers of states, and
raise before they explore more than `max_states` of them.
"""

from phasic.graphs.models.coalescent_models import block_counting
from phasic.graphs.models.coalescent_models import kingman
from phasic.graphs.models.coalescent_models import two_locus_coalescent
from phasic.graphs.models.joint_models import joint_block_counting
from phasic.graphs.models.joint_models import joint_spectrum_rewards
from phasic.graphs.models.merger_models import beta_rates
from phasic.graphs.models.merger_models import lambda_block_counting
from phasic.graphs.models.merger_models import lambda_coalescent
from phasic.graphs.models.merger_models import psi_rates
from phasic.graphs.models.process_models import birth_death
from phasic.graphs.models.process_models import busy_period
from phasic.graphs.models.process_models import illness_death
from phasic.graphs.models.process_models import machine_repair
from phasic.graphs.models.process_models import tandem_queue
from phasic.graphs.models.spectra import folded_spectrum
from phasic.graphs.models.spectra import kingman_spectrum
from phasic.graphs.models.spectra import spectrum_log_likelihood
from phasic.graphs.models.structured_models import island_coalescent
from phasic.graphs.models.structured_models import isolation_with_migration
from phasic.graphs.models.structured_models import merge_demes
from phasic.graphs.models.structured_models import structured_coalescent

__all__ = [
  "beta_rates",
  "birth_death",
  "block_counting",
  "busy_period",
  "folded_spectrum",
  "illness_death",
  "island_coalescent",
  "isolation_with_migration",
  "joint_block_counting",
  "joint_spectrum_rewards",
  "kingman",
  "kingman_spectrum",
  "lambda_block_counting",
  "lambda_coalescent",
  "machine_repair",
  "merge_demes",
  "psi_rates",
  "spectrum_log_likelihood",
  "structured_coalescent",
  "tandem_queue",
  "two_locus_coalescent",
]
