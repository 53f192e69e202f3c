"""The limits on errors hold for every instruction set of the kernel.

A process chooses its instruction set once, so each has a process of its own.
"""

import concurrent.futures
import functools
import multiprocessing
import os
from typing import Any
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from tests.accuracy import cases
from tests.accuracy import derivative_checks
from tests.accuracy import kernel_calls
from tests.oracle import phase_type_oracle as oracle

_NAMES = (
  tuple(kernel_calls.module().instruction_sets())
  if kernel_calls.available()
  else ("generic",)
)
_TOLERANCE = 1e-12


def _dense(size: int) -> oracle.Operands:
  """A model whose matrix and number of times fill registers of any width."""
  rng = onp.random.default_rng(size)
  rates = rng.uniform(0.1, 2.0, (size, size))
  exits = rng.uniform(0.1, 1.0, size)
  start = onp.full(size, 1.0 / size)
  return oracle.Operands(
    start, rates - onp.diag(onp.diag(rates)), exits, onp.float64(0.0), 1.0
  )


@functools.cache
def _operands() -> dict[str, oracle.Operands]:
  """All models at several times."""
  result = {}
  for model, options in (
    ("erlang", "exits_given"),
    ("cyclic", "exits_derived"),
    ("cyclic", "exits_and_atom_given"),
    ("birth_death", "exits_given"),
  ):
    times = cases.TIMES[model]
    result[f"{model}, {options}"] = cases.operands(model, options, times)
  for size in (9, 20):
    times = onp.geomspace(1e-6, 20.0, 19)
    result[f"dense {size}"] = _dense(size)._replace(time=times)
  return result


@functools.cache
def _values(model: str, kind: str) -> list[Any]:
  """The truths at the model's times, which all instruction sets share."""
  operands = _operands()[model]
  return [
    oracle.directional(kind, operands._replace(time=t))[0]
    for t in operands.time
  ]


@functools.cache
def _gradient(model: str, t: float) -> tuple[oracle.Gradient, oracle.Gradient]:
  """The true gradient of a log density, and its scales."""
  return oracle.gradient("log_density", _operands()[model]._replace(time=t))


class _Process:
  """Calls of the kernel in a process that runs one instruction set."""

  def __init__(self, name: str):
    self._environment = {"PHASIC_ISA": name}
    self._pool = concurrent.futures.ProcessPoolExecutor(
      max_workers=1, mp_context=multiprocessing.get_context("spawn")
    )

  def __call__(self, function: Any, *args: Any) -> Any:
    with mock.patch.dict(os.environ, self._environment):
      return self._pool.submit(function, *args).result()

  def close(self):
    self._pool.shutdown()


def _chosen() -> str:
  return kernel_calls.module().instruction_set()


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class InstructionSetsTest(derivative_checks.TestCase):
  def _process(self, name):
    if not kernel_calls.module().instruction_sets()[name]:
      self.skipTest(f"this processor cannot run {name}")
    process = _Process(name)
    self.addCleanup(process.close)
    self.assertEqual(process(_chosen), name)
    return process

  @parameterized.parameters(*_NAMES)
  def test_values(self, name):
    process = self._process(name)
    for model, operands in _operands().items():
      for kind in oracle.KINDS:
        actual = process(kernel_calls.directional, kind, operands)
        truths = _values(model, kind)
        for t, x, truth in zip(operands.time, actual, truths, strict=True):
          bound = cases.value_tolerance(kind, float(truth.mid()))
          self.assertLessEqual(oracle.error(x, truth), bound, (model, kind, t))

  @parameterized.parameters(*_NAMES)
  def test_first_derivatives(self, name):
    process = self._process(name)
    for model, operands in _operands().items():
      for t in operands.time[-6:-1:2]:  # not the extreme ones
        case = operands._replace(time=t)
        truth, scales = _gradient(model, t)
        actual = process(kernel_calls.gradient, "log_density", case)
        for field in oracle.Gradient._fields:
          missed = derivative_checks.shortfall(
            getattr(actual, field),
            getattr(truth, field),
            getattr(scales, field),
            _TOLERANCE,
          )
          self.assertEmpty(missed, (model, t, field))


if __name__ == "__main__":
  absltest.main()
