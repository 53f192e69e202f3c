"""Settings: native kernel or portable code, and the number of threads.

Most functions call the native kernel if it can run, and otherwise the portable
path, which is array code. `path()` returns the current path, `precision()` the
dtype in which it computes, and `unavailable_reason()` why the kernel cannot
run. `use_path("portable")` and `use_path("kernel")` choose the path, from then
on or for a `with` block. If the kernel cannot run, the import of the package
warns, or calls raise if the environment variable PHASIC_REQUIRE_KERNEL is 1. The kernel divides batches among threads:
`num_threads()` returns the largest number of threads, and
`set_num_threads(count)` sets it. `work_limit()` returns the limit on the work
of one model, in seconds, and `set_work_limit(seconds)` sets it.
"""

from phasic.internal.kernel_ops import num_threads
from phasic.internal.kernel_ops import path
from phasic.internal.kernel_ops import precision
from phasic.internal.kernel_ops import set_num_threads
from phasic.internal.kernel_ops import set_work_limit
from phasic.internal.kernel_ops import unavailable_reason
from phasic.internal.kernel_ops import use_path
from phasic.internal.kernel_ops import work_limit

__all__ = [
  "num_threads",
  "path",
  "precision",
  "set_num_threads",
  "set_work_limit",
  "unavailable_reason",
  "use_path",
  "work_limit",
]
