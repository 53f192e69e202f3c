"""Two processes and two devices give what one of each gives.

They compare the likelihood and its gradient, of which posteriors are made.
"""

import os
import re
import socket
import subprocess
import sys

from absl.testing import absltest
import numpy as np

_SCRIPT = os.path.join(
  os.path.dirname(os.path.abspath(__file__)), "many_devices.py"
)
# Not a multiple of two: one observation of weight zero is added.
_NUM_TIMES = 301


def _start(*arguments):
  return subprocess.Popen(
    [sys.executable, _SCRIPT, f"--num_times={_NUM_TIMES}", *arguments],
    env={
      **os.environ,
      "JAX_PLATFORMS": "cpu",
      "PYTHONPATH": os.pathsep.join(sys.path),
    },
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
  )


def _free_port():
  with socket.socket() as found:
    found.bind(("localhost", 0))
    return found.getsockname()[1]


class ManyDevicesTest(absltest.TestCase):
  def read(self, process, num_rates=4):
    """Returns log-likelihood and gradient, means, and standard deviations."""
    output, errors = process.communicate(timeout=600)
    self.assertEqual(process.returncode, 0, msg=errors[-3000:])
    # The library by which processes talk prints, too.
    lines = [x for x in output.splitlines() if not x.startswith("[Gloo]")]
    exact = np.array(re.findall(r" (-?\d\S*)", " ".join(lines[1:3])), float)
    rates = np.array([re.findall(r"[\d.]+", x) for x in lines[3:]], float)
    self.assertEqual((exact.shape, len(rates)), ((3,), num_rates), msg=output)
    return lines[0], exact, rates

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.one = _start()

  def test_devices_and_processes(self):
    title, exact, rates = self.read(self.one)
    self.assertIn("1 devices of 1 process", title)
    # SVGD and NUTS agree, and the truth is within four standard deviations.
    (means, sds), (nuts_means, nuts_sds) = rates[:2].T, rates[2:].T
    self.assertLess(np.max(np.abs(means - nuts_means) / nuts_sds), 0.5)
    self.assertLess(np.max(np.abs(np.log(sds / nuts_sds))), np.log(2))
    self.assertLess(np.max(np.abs(means - [1.0, 0.5]) / sds), 4)
    with self.subTest("two devices"):
      title, found, _ = self.read(
        _start("--cpu_devices=2", "--noposterior"), num_rates=0
      )
      self.assertIn("2 devices of 1 process", title)
      np.testing.assert_allclose(found, exact, rtol=1e-13)
    with self.subTest("two processes"):
      both = [
        _start(
          "--noposterior",
          f"--coordinator=localhost:{port}",
          "--num_processes=2",
          f"--process_id={i}",
        )
        for port in [_free_port()]
        for i in range(2)
      ]
      (title, found, _), (_, other, _) = (
        self.read(process, num_rates=0) for process in both
      )
      self.assertIn("2 devices of 2 processes", title)
      np.testing.assert_array_equal(found, other)
      np.testing.assert_allclose(found, exact, rtol=1e-13)


if __name__ == "__main__":
  absltest.main()
