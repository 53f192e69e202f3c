"""The kernel's own threads: their number, and processes that fork."""

import concurrent.futures
import faulthandler
import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic._native import _kernel
from phasic.substrates.numpy import config
from phasic.substrates.numpy import math as pm

_RATES = onp.linspace(0.5, 4.0, 200)
_TIMES = onp.array([0.2, 1.0, 3.0])


def _log_density():
  """Exponential distributions: (3, 200)."""
  return pm.phase_type.log_prob(
    _TIMES[:, None],
    [1.0],
    onp.zeros((200, 1, 1)),
    exit_rates=_RATES[:, None],
  )


def _closed_form():
  return onp.log(_RATES) - _RATES * _TIMES[:, None]


def _is_right():
  return onp.allclose(_log_density(), _closed_form(), rtol=0, atol=1e-13)


def _run(code, **environment):
  """Runs code in a new process with this one's import path."""
  start = f"import sys; sys.path[:] = {sys.path!r}\n"
  return subprocess.run(
    [sys.executable, "-c", start + textwrap.dedent(code)],
    capture_output=True,
    check=False,
    env={**os.environ, **environment},
    text=True,
    timeout=240,
  )


class ThreadsTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.assertEqual(config.path(), "kernel")
    before = config.num_threads()
    self.addCleanup(config.set_num_threads, before)
    config.set_num_threads(4)
    # A hang ends the process, with all stacks, and that is a failure.
    faulthandler.dump_traceback_later(240, exit=True)
    self.addCleanup(faulthandler.cancel_dump_traceback_later)

  def test_number(self):
    config.set_num_threads(onp.int32(3))
    self.assertEqual(config.num_threads(), 3)

  @parameterized.parameters(0, -1, 257, 2**40)
  def test_number_out_of_range(self, count):
    with self.assertRaisesRegex(
      ValueError, f"count is {count}: it must be from 1 to 256"
    ):
      config.set_num_threads(count)
    self.assertEqual(config.num_threads(), 4)

  @parameterized.parameters(2.0, "2", None)
  def test_number_of_another_type(self, count):
    with self.assertRaisesRegex(
      TypeError, f"count is {count!r}: it must be an integer from 1 to 256"
    ):
      config.set_num_threads(count)

  def test_many_callers(self):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
      right = list(pool.map(lambda _: _is_right(), range(400)))
    self.assertTrue(all(right))

  def test_other_python_threads_run_during_a_call(self):
    config.set_num_threads(1)
    rates, absent = onp.ones((20000, 1)), onp.ones((1, 0))
    times = onp.linspace(0.1, 9.0, 100)[None]
    operands = [onp.ones((1, 1)), -rates[..., None], rates, absent, times]
    done = threading.Event()

    def call():
      _kernel.forward(0, 0, operands)
      done.set()

    worker = threading.Thread(target=call)
    worker.start()
    count = 0
    while not done.wait(0.001):
      count += 1
    worker.join()
    self.assertGreater(count, 5)

  def test_fork(self):
    self.assertTrue(_is_right())  # The threads are there.
    for _ in range(5):
      child = os.fork()
      if child == 0:
        os._exit(0 if _is_right() and _is_right() else 1)
      _, status = os.waitpid(child, 0)
      self.assertEqual(os.waitstatus_to_exitcode(status), 0)
    self.assertTrue(_is_right())

  def test_multiprocessing_by_fork(self):
    self.assertTrue(_is_right())
    with multiprocessing.get_context("fork").Pool(3) as pool:
      results = [pool.apply_async(_is_right) for _ in range(20)]
      self.assertTrue(all(r.get(timeout=120) for r in results))
      pool.close()
      pool.join()

  def test_the_process_ends_while_threads_wait(self):
    result = _run("""
      import threading
      import numpy as np
      from phasic.substrates.numpy import config
      from phasic.substrates.numpy import math as pm
      config.set_num_threads(8)
      def work(count):
        for _ in range(count):
          pm.phase_type.log_prob(np.array([3.0]), [1.0], -np.ones((500, 1, 1)))
      work(3)
      threading.Thread(target=work, args=(10**9,), daemon=True).start()
      work(3)
      print("last line")
    """)
    self.assertEqual((result.returncode, result.stderr), (0, ""))
    self.assertEqual(result.stdout, "last line\n")

  @parameterized.parameters(
    ("3", 3, ""), ("0", None, "is '0'"), ("many", None, "is 'many'")
  )
  def test_environment_variable(self, text, count, complaint):
    code = """
      from phasic.substrates.numpy import config
      print(config.num_threads())
    """
    result = _run(code, PHASIC_NUM_THREADS=text)
    self.assertEqual(result.returncode, 0, result.stderr)
    if complaint:
      self.assertIn(f"PHASIC_NUM_THREADS {complaint}: it must", result.stderr)
      self.assertBetween(int(result.stdout), 1, 8)
    else:
      self.assertEqual((int(result.stdout), result.stderr), (count, ""))


if __name__ == "__main__":
  absltest.main()
