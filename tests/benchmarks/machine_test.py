"""What the benchmark says about the machine and the process."""

import ctypes
import shutil
import unittest

from absl.testing import absltest
import numpy as onp

from benchmarks import native_library
from benchmarks import process_memory
from benchmarks import roof


class RoofTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    if not (native_library.path("roof").exists() or shutil.which("g++")):
      raise unittest.SkipTest("no C++ compiler")

  def test_all_is_read(self):
    load = native_library.load("roof").roof_load
    load.restype = ctypes.c_double
    for count in (64, 640, 4096):
      data = onp.arange(float(count))
      pointer = data.ctypes.data_as(ctypes.c_void_p)
      for rounds in (1, 3):
        total = load(pointer, ctypes.c_int64(count), ctypes.c_int64(rounds))
        self.assertEqual(total, rounds * data.sum())

  def test_multiply_adds_are_made(self):
    # x -> 0.999 (x + 1) ends in its fixed point, 999, in every lane.
    library = native_library.load("roof")
    library.roof_fma.restype = ctypes.c_double
    total = library.roof_fma(ctypes.c_int64(100_000))
    per_round = library.roof_fma_per_round()
    onp.testing.assert_allclose(total, 999.0 * per_round, rtol=1e-9)

  def test_rates_are_work_over_time(self):
    machine = roof.Roof()
    seconds = dict.fromkeys(machine.functions, 1e-3)
    slower = dict.fromkeys(machine.functions, 2e-3)
    self.assertSameElements(seconds, [roof.FMA, "L1", "L2"])
    for name, rate in machine.rates(seconds).items():
      self.assertGreater(rate, 0.0)
      self.assertAlmostEqual(rate / machine.rates(slower)[name], 2.0)

  def test_what_binds(self):
    rates = {roof.FMA: 10.0, "L1": 160.0, "L2": 40.0}
    small, large = roof.cache_bytes("L1"), 2 * roof.cache_bytes("L1")
    self.assertEqual(roof.seconds_at_least(30.0, small, rates), (3.0, roof.FMA))
    self.assertEqual(roof.seconds_at_least(30.0, large, rates), (6.0, "L2"))
    rates["L1"] = 60.0
    self.assertEqual(roof.seconds_at_least(30.0, small, rates), (4.0, "L1"))


class ProcessMemoryTest(absltest.TestCase):
  def test_memory_that_was_used_and_given_back(self):
    if not process_memory.available():
      raise unittest.SkipTest("the system does not tell")
    size = 64 << 20

    found = process_memory.bytes_above_baseline(
      lambda: onp.ones(size // 8).sum()
    )

    self.assertBetween(found, 0.9 * size, 1.2 * size)


if __name__ == "__main__":
  absltest.main()
