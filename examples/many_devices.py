"""A posterior of censored times whose likelihood is split among devices.

On all devices of this machine:

    python examples/many_devices.py

As two processes on this machine, each in a terminal of its own:

    python examples/many_devices.py --coordinator=localhost:8476 \
      --num_processes=2 --process_id=0
    python examples/many_devices.py --coordinator=localhost:8476 \
      --num_processes=2 --process_id=1

On a cluster, where JAX asks Slurm, Open MPI or Kubernetes for all of that:

    srun python examples/many_devices.py --distributed

Every process reads a part of the data, and prints the same.
"""

from collections.abc import Sequence
import os
import sys

from absl import app
from absl import flags

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

_DISTRIBUTED = flags.DEFINE_bool(
  "distributed", False, "Whether this is one of several processes."
)
_COORDINATOR = flags.DEFINE_string(
  "coordinator", None, "Address of process 0; None asks the cluster."
)
_NUM_PROCESSES = flags.DEFINE_integer("num_processes", None, "As above.")
_PROCESS_ID = flags.DEFINE_integer("process_id", None, "As above.")
_CPU_DEVICES = flags.DEFINE_integer(
  "cpu_devices", None, "Devices of a process that has only processors."
)
_NUM_TIMES = flags.DEFINE_integer(
  "num_times", 2001, "How many times there are.", lower_bound=1
)
_POSTERIOR = flags.DEFINE_bool(
  "posterior", True, "Whether to sample, too, or only to show the likelihood."
)


def main(argv: Sequence[str]) -> None:
  if len(argv) > 1:
    raise app.UsageError(f"unexpected arguments: {argv[1:]}")
  import jax

  if _CPU_DEVICES.value is not None:
    jax.config.update("jax_num_cpu_devices", _CPU_DEVICES.value)
  if _DISTRIBUTED.value or _COORDINATOR.value is not None:
    # Before anything else is done with JAX.
    jax.distributed.initialize(
      _COORDINATOR.value, _NUM_PROCESSES.value, _PROCESS_ID.value
    )
  from bayes import censored_times

  censored_times.tell(_NUM_TIMES.value, _POSTERIOR.value)


if __name__ == "__main__":
  app.run(main)
