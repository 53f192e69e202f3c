"""The demo: NumPy, JAX and TensorFlow in one process."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

_DEMO = pathlib.Path(__file__).parents[2] / "examples" / "strikes_demo.py"


class DemoSuite(unittest.TestCase):
  def test_demo(self):
    # -P leaves the clone, where phasic is not generated, off the path.
    with tempfile.TemporaryDirectory() as folder:
      picture = os.path.join(folder, "strikes.png")
      subprocess.run(
        [sys.executable, "-P", str(_DEMO), f"--output={picture}"], check=True
      )
      self.assertGreater(os.path.getsize(picture), 10000)
