"""Which code runs, and on how many threads.

Most functions call the native kernel where it can run, and else the portable
path in array code: `path()` says which, `precision()` in which dtype it
computes, `unavailable_reason()` why not the kernel, and `use_path("portable")`
or `use_path("kernel")` chooses, from then on or for a `with` block. Where the
kernel cannot run, the first call that takes the portable path instead warns, or
raises where the environment variable PHASIC_REQUIRE_KERNEL is 1. The kernel
shares batches out among threads: `num_threads()`, `set_num_threads(count)`.
"""

from phasic.internal.kernel_ops import num_threads
from phasic.internal.kernel_ops import path
from phasic.internal.kernel_ops import precision
from phasic.internal.kernel_ops import set_num_threads
from phasic.internal.kernel_ops import unavailable_reason
from phasic.internal.kernel_ops import use_path

__all__ = [
  "num_threads",
  "path",
  "precision",
  "set_num_threads",
  "unavailable_reason",
  "use_path",
]
