"""Progress reports of long computations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib

from phasic.internal import frameworks
from phasic.internal import raw_arguments


@contextlib.contextmanager
def reporting(
  progress: bool | Callable[..., object],
  arguments: str,
  show: Callable[..., str] | None = None,
  desc: str | None = None,
  total: int | None = None,
) -> Iterator[Callable[..., object] | None]:
  """Yields a function that reports progress, or None if no report is wanted.

  Args:
    progress: True for a bar, which needs tqdm; or a function that is called
      instead.
    arguments: a description of the function's arguments, for the error message;
      the first one is the count.
    show: a function that formats the arguments after the count.
    desc: the text before the bar.
    total: the largest count.

  Raises:
    TypeError: `progress` is neither a bool nor a function.
  """
  if progress is False or progress is None:
    yield None
  elif callable(progress):
    yield progress
  elif progress is True:
    with frameworks.needed_by("progress=True"):
      import tqdm

    with tqdm.tqdm(unit="", desc=desc, total=total) as bar:

      def report(count: int, *values: object) -> None:
        if show is not None:
          bar.set_postfix_str(show(*values))
        bar.update(count - bar.n)

      yield report
  else:
    raise TypeError(
      f"progress is {raw_arguments.shown(progress)}: it must be True, False or a function of "
      f"{arguments}"
    )


def counting_states(
  progress: bool | Callable[[int], object],
) -> contextlib.AbstractContextManager[Callable[..., object] | None]:
  """Yields a progress function that takes the number of states found."""
  return reporting(progress, "the number of states", desc="states")


def fitting(
  progress: bool | Callable[[int, float], object], total: int | None = None
) -> contextlib.AbstractContextManager[Callable[..., object] | None]:
  """Yields a progress function of an iteration count and a log likelihood.

  Args:
    progress: see `reporting`.
    total: the largest count.
  """
  return reporting(
    progress,
    "a number and of a log likelihood",
    lambda value: f"log-likelihood {value:.4f}",
    total=total,
  )
