"""Reports on how many states were found."""

from collections.abc import Callable
import contextlib
from typing import Any


@contextlib.contextmanager
def reporting(progress: bool | Callable[[int], Any]) -> Any:
  """Gives a function of the number of states, or None for no reports.

  Args:
    progress: True for a bar of tqdm, which is needed only then; or a function
      that is called instead.
  """
  if progress is False or progress is None:
    yield None
  elif callable(progress):
    yield progress
  elif progress is True:
    import tqdm

    with tqdm.tqdm(desc="states", unit="") as bar:
      yield lambda count: bar.update(count - bar.n)
  else:
    raise TypeError(
      f"progress is {progress!r}: it must be True, False or a function of the "
      "number of states"
    )
