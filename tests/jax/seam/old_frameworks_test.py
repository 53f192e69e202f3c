"""A JAX that is missing or too old is one ImportError with the versions."""

import pathlib
import subprocess
import sys
import tempfile

from absl.testing import absltest
from absl.testing import parameterized

_CODE = """
import sys
sys.path[:] = [sys.argv[1], *sys.argv[2:]]
try:
  from phasic.substrates.jax import math
except ImportError as error:
  print(error)
"""
_INSTALL = 'pip install --upgrade "phasic-substrates[jax]"'


class OldFrameworksTest(parameterized.TestCase):
  @parameterized.named_parameters(
    (
      "missing",
      "raise ModuleNotFoundError(name='jax')",
      "phasic.substrates.jax needs JAX, which is not installed: pip install "
      '"phasic-substrates[jax]"',
    ),
    (
      "old",
      "__version__ = '0.8.3'",
      "JAX is 0.8.3: it must be 0.9 or later for phasic.substrates.jax; "
      + _INSTALL,
    ),
    (
      "old_and_broken",
      "import numpy.nothing",
      "JAX is 0.4.30: it must be 0.9 or later for phasic.substrates.jax; "
      + _INSTALL,
    ),
  )
  def test_message(self, init, message):
    with tempfile.TemporaryDirectory() as folder:
      for name, text in (
        ("jax/__init__.py", init),
        ("jax-0.4.30.dist-info/METADATA", "Name: jax\nVersion: 0.4.30\n"),
      ):
        path = pathlib.Path(folder, name)
        path.parent.mkdir()
        path.write_text(text)
      result = subprocess.run(
        [sys.executable, "-c", _CODE, folder, *sys.path],
        capture_output=True,
        text=True,
        check=False,
      )
    self.assertEqual((result.returncode, result.stderr), (0, ""))
    self.assertEqual(result.stdout, message + "\n")


if __name__ == "__main__":
  absltest.main()
