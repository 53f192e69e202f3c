"""Prints the methods that take over two seconds, of models that are hard.

Rings and queues with tiny exits, stiff, dense and long chains, and discrete ones
whose rows are off by 1e-10. Each model has a process of its own, which is ended
where a call is not back in time.
"""

from collections.abc import Callable, Iterator, Sequence
import functools
import multiprocessing
import signal
import time
from typing import Any
import warnings

from absl import app
from absl import flags
import numpy as onp

from phasic.substrates import numpy as ph

_PHASES = flags.DEFINE_list("phases", ["31", "100", "400", "600"], "Sizes.")
_OVER = flags.DEFINE_float("over", 2.0, "Calls that take longer are printed.")
_LIMIT = flags.DEFINE_integer("limit", 120, "Seconds after which one is ended.")

_AT_TIMES = (
  "log_prob",
  "cdf",
  "log_cdf",
  "log_survival_function",
  "hazard_function",
  "log_hazard_function",
  "occupancy",
)
_STATISTICS = (
  "mean",
  "variance",
  "stddev",
  "median",
  "entropy",
  "mode",
  "expected_visits",
)


def main(argv: Sequence[str]) -> None:
  del argv
  # One at a time: they share no memory, and no time.
  context = multiprocessing.get_context("fork")
  for text in _PHASES.value:
    for name, make in _models(int(text)):
      child = context.Process(target=_measure, args=(f"{name}, {text}", make))
      child.start()
      child.join()


def _measure(name: str, make: Callable[[], Any]) -> None:
  """Prints the slow calls of a model."""
  warnings.simplefilter("ignore")  # Of values that are bad on purpose.
  count, last = 0, ""
  for last, call in _calls(make()):
    signal.signal(
      signal.SIGALRM, functools.partial(_end, f"{name}: {last} is not back")
    )
    signal.alarm(_LIMIT.value)
    start, reason = time.perf_counter(), ""
    try:
      call()
    except (NotImplementedError, ValueError) as error:
      reason = type(error).__name__
    seconds = time.perf_counter() - start
    signal.alarm(0)
    count += 1
    if seconds > _OVER.value:
      print(f"{seconds:8.2f} s  {name}: {last} {reason}", flush=True)
  print(f"{name}: {count} calls", flush=True)


def _end(message: str, *args: Any) -> None:
  print(message, flush=True)
  raise SystemExit


def _models(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
  for end in (1e-300, 1e-17, 1e-10, 1.0):
    yield f"ring, exit {end:g}", functools.partial(_ring, n, end)
  yield "queue, mean 1e18", functools.partial(_queue, n, 1.0, 1.07, 1e-17)
  yield "queue that grows", functools.partial(_queue, n, 1.1, 1.0, 1.0)
  yield "stiff", functools.partial(_stiff, n)
  for end in (1e-12, 1.0):
    yield f"dense, exit {end:g}", functools.partial(_dense, n, end)
  for end, excess in ((1e-17, 0.0), (1e-10, 0.0), (1e-3, 1e-10)):
    yield (
      f"steps, exit {end:g}, excess {excess:g}",
      functools.partial(_steps, n, end, excess),
    )
  yield "Erlang", lambda: ph.distributions.Erlang(n, 1e-200)


def _calls(dist: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
  for name in _AT_TIMES:
    for x in (0.0, 1.0, 1e3, 1e9, 1e18):
      yield f"{name}({x:g})", functools.partial(getattr(dist, name), x)
  for u in (1e-12, 0.5, 1 - 1e-12):
    yield f"quantile({u})", functools.partial(dist.quantile, u)
  for name in _STATISTICS:
    yield name, getattr(dist, name)
  yield "moment(3)", functools.partial(dist.moment, 3)
  yield "laplace_transform", functools.partial(dist.laplace_transform, 0.5)
  yield "sample", functools.partial(dist.sample, 100, seed=1)
  parameter = next(iter(dist.parameter_properties()))
  for x in (1.0, 1e3, 1e9):
    yield (
      f"gradient of log_prob({x:g})",
      functools.partial(
        ph.math.value_and_gradient,
        lambda p, x=x: dist.copy(**{parameter: p}).log_prob(x),
        dist.parameters[parameter],
      ),
    )


def _chain(between: onp.ndarray, exits: onp.ndarray) -> Any:
  n = len(exits)
  matrix = between - onp.diag(between.sum(axis=1) + exits)
  return ph.distributions.PhaseType(onp.full(n, 1 / n), matrix, exits)


def _ring(n: int, end: float) -> Any:
  return _chain(onp.roll(onp.eye(n), 1, axis=1), end * onp.eye(n)[-1])


def _queue(n: int, up: float, down: float, end: float) -> Any:
  between = up * onp.eye(n, k=1) + down * onp.eye(n, k=-1)
  return _chain(between, end * onp.eye(n)[0])


def _stiff(n: int) -> Any:
  random = onp.random.default_rng(1)
  rates = 10.0 ** random.uniform(-9, 9, (n, n)) * (
    random.random((n, n)) < 5 / n
  )
  onp.fill_diagonal(rates, 0.0)
  between = rates + 1e-3 * onp.roll(onp.eye(n), 1, axis=1)
  return _chain(between, 1e-9 * onp.eye(n)[0])


def _dense(n: int, end: float) -> Any:
  between = onp.random.default_rng(2).random((n, n))
  onp.fill_diagonal(between, 0.0)
  return _chain(between, end * onp.eye(n)[0])


def _steps(n: int, end: float, excess: float) -> Any:
  matrix = 0.5 * (onp.eye(n) + onp.roll(onp.eye(n), 1, axis=1))
  matrix[-1, 0] -= end
  matrix[0, 0] += excess
  return ph.distributions.DiscretePhaseType(onp.full(n, 1 / n), matrix)


if __name__ == "__main__":
  app.run(main)
