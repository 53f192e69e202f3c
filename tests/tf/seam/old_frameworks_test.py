"""A TensorFlow that is missing or too old is one ImportError with the versions."""

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
  from phasic.substrates.tf import math
except ImportError as error:
  print(error)
"""
_INSTALL = 'pip install --upgrade "phasic-substrates[tf]"'


class OldFrameworksTest(parameterized.TestCase):
  @parameterized.named_parameters(
    (
      "missing",
      "raise ModuleNotFoundError(name='tensorflow')",
      "phasic.substrates.tf needs TensorFlow, which is not installed: pip install "
      '"phasic-substrates[tf]"',
    ),
    (
      "old",
      "__version__ = '2.17.1'",
      "TensorFlow is 2.17.1: it must be 2.18 or later for phasic.substrates.tf; "
      + _INSTALL,
    ),
    (
      "old_and_broken",
      "import numpy.nothing",
      "TensorFlow is 2.9.0: it must be 2.18 or later for phasic.substrates.tf; "
      + _INSTALL,
    ),
  )
  def test_message(self, init, message):
    with tempfile.TemporaryDirectory() as folder:
      for name, text in (
        ("tensorflow/__init__.py", init),
        ("tensorflow_cpu-2.9.0.dist-info/METADATA", "Version: 2.9.0\n"),
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
