"""Reports on how far a fit is."""

from collections.abc import Callable, Iterator
import contextlib
from typing import Any


@contextlib.contextmanager
def reporting(
  progress: bool | Callable[[int, float], Any], total: int | None = None
) -> Iterator[Callable[[int, float], Any] | None]:
  """Gives a function of a number and of a log likelihood, or None.

  Args:
    progress: True for a bar of tqdm, which is needed only then; or a function
      that is called instead.
    total: of the numbers.
  """
  if progress is False or progress is None:
    yield None
  elif callable(progress):
    yield progress
  elif progress is True:
    import tqdm

    with tqdm.tqdm(total=total, unit="") as bar:

      def told(count: int, value: float) -> None:
        bar.set_postfix_str(f"log-likelihood {value:.4f}")
        bar.update(count - bar.n)

      yield told
  else:
    raise TypeError(
      f"progress is {progress!r}: it must be True, False or a function of a "
      "number and of a log likelihood"
    )
