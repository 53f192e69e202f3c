"""Tests of the command lines as scripts, and of a generated tree."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

from absl.testing import absltest
from absl.testing import parameterized

# Every generated tree needs this file, and `kernel_ops`.
_LATE_NAMES = "phasic/internal/late_names.py"
_META = pathlib.Path(os.path.abspath(__file__)).parent.parent

_FILES = {
  "phasic/__init__.py": '__version__ = "1"\n_PROJECT = "phasic-substrates"\n',
  "phasic/py.typed": "",
  "phasic/math/__init__.py": (
    'from phasic.math import simple\n\n__all__ = ["simple"]\n'
  ),
  "phasic/math/simple.py": (
    '"""Simple.\n\n'
    ">>> import numpy as np\n"
    ">>> from phasic import math\n"
    ">>> float(math.simple.twice(np.asarray(1.0)))\n"
    "2.0\n"
    '>>> type(math.simple.draw(seed=3)).__name__ == "int"\n'
    "True\n"
    '"""\n'
    "import numpy as np\n"
    "from phasic.internal import random\n\n\n"
    "def twice(x):\n  return np.asarray(2.0) * x\n\n\n"
    "def draw(seed):\n  return random.sanitize_seed(seed)\n"
  ),
  "phasic/internal/random.py": (
    "def sanitize_seed(seed, salt=None):\n  return int(seed)\n"
  ),
  "phasic/internal/kernel_ops.py": "def warn_if_missing():\n  pass\n",
  "substrates/jax/random.py": (
    "import jax\n\n\n"
    "def sanitize_seed(seed, salt=None):\n"
    "  return int(jax.random.key_data(seed)[1])\n"
  ),
  "substrates/tf/random.py": (
    "def sanitize_seed(seed, salt=None):\n  return int(seed)\n"
  ),
  "substrates/tf/array_functions.py": "def asarray(x):\n  return x\n",
  "tests/shared/simple_test.py": (
    "import unittest\n\n"
    "import numpy as np\n"
    "from phasic import math\n\n\n"
    "class SimpleTest(unittest.TestCase):\n"
    "  def test_twice(self):\n"
    "    x = math.simple.twice(np.asarray(2.0))\n"
    "    self.assertEqual(float(x), 4.0)\n"
    "    self.assertEqual(math.simple.draw(seed=5), 5)\n\n\n"
    'if __name__ == "__main__":\n  unittest.main()\n'
  ),
  "tests/jax/only_test.py": "",
}


class CliTest(parameterized.TestCase):
  """Tests of both scripts on a small source tree."""

  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    for name, text in _FILES.items():
      path = self.root / name
      path.parent.mkdir(parents=True, exist_ok=True)
      path.write_text(text, encoding="utf-8")
    seam = self.root / _LATE_NAMES
    seam.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(_META.parent.parent / _LATE_NAMES, seam)

  def _run(self, script: str, *arguments: str, status: int = 0) -> str:
    result = subprocess.run(
      [sys.executable, _META / script, *arguments],
      cwd=self.root,
      capture_output=True,
      text=True,
      check=False,
    )
    self.assertEqual(result.returncode, status, result.stderr)
    return result.stdout + result.stderr

  def _rewrite(self, *arguments: str, status: int = 0) -> str:
    return self._run("rewrite.py", *arguments, status=status)

  def test_outputs_root(self):
    self._rewrite(
      *("--substrate=jax", "--outputs_root=out", "--init=substrate"),
      *("phasic/math/simple.py", "tests/shared/simple_test.py"),
      "substrates/jax/random.py",
    )
    self.assertCountEqual(
      [
        path.relative_to(self.root / "out").as_posix()
        for path in (self.root / "out").rglob("*.py")
      ],
      [
        "phasic/substrates/jax/__init__.py",
        "phasic/substrates/jax/math/simple.py",
        "phasic/substrates/jax/internal/random.py",
        "tests/generated/jax/shared/simple_test.py",
      ],
    )
    seam = self.root / "out/phasic/substrates/jax/internal/random.py"
    self.assertEqual(
      seam.read_text(encoding="utf-8"), _FILES["substrates/jax/random.py"]
    )

  def test_output_and_source_root(self):
    self._rewrite(
      *("--substrate=tf", "--output=x.py", f"--source_root={self.root}"),
      f"{self.root}/phasic/math/simple.py",
    )
    self.assertIn(
      "from phasic.substrates.tf.internal import array_functions as np",
      (self.root / "x.py").read_text(encoding="utf-8"),
    )

  def test_problems_stop_everything(self):
    (self.root / "phasic/math/bad.py").write_text("import numpy\n")
    message = self._rewrite(
      *("--substrate=jax", "--outputs_root=out"),
      *("phasic/math/simple.py", "phasic/math/bad.py", "phasic/math/none.py"),
      status=1,
    )
    self.assertIn("phasic/math/bad.py:1:1: NumPy is imported as", message)
    self.assertIn("phasic/math/none.py:1:1: [Errno 2]", message)
    self.assertNotIn("Traceback", message)
    self.assertFalse((self.root / "out").exists())

  def test_omit_dep_that_matches_nothing(self):
    message = self._rewrite(
      *("--substrate=jax", "--check", "--omit_deps=phasic.math.simple,scipy"),
      "phasic/math/__init__.py",
      status=1,
    )
    self.assertEqual(
      message,
      "phasic/math/__init__.py:1:1: --omit_deps scipy matched no import\n",
    )

  @parameterized.parameters(
    (("--output=x", "phasic/a.py", "phasic/b.py"), "exactly one input"),
    (("phasic/math/simple.py",), "one of --outputs_root"),
    (("--check", "../x.py"), "is outside the source root"),
  )
  def test_usage(self, arguments, message):
    status = 1 if "outside" in message else 2
    self.assertIn(
      message, self._rewrite("--substrate=jax", *arguments, status=status)
    )

  def test_missing_table(self):
    (self.root / "substrates/tf/array_functions.py").unlink()
    message = self._rewrite(
      "--substrate=tf", "--check", "phasic/math/simple.py", status=1
    )
    self.assertIn("array_functions.py:1:1: is missing", message)

  def _python(self, *arguments: str) -> None:
    result = subprocess.run(
      [sys.executable, *arguments],
      cwd=self.root / "out",
      env={**os.environ, "PYTHONPATH": str(self.root / "out")},
      capture_output=True,
      text=True,
      check=False,
    )
    self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

  @parameterized.parameters("numpy", "jax", "tf")
  def test_tree_works(self, substrate):
    if substrate == "jax" and importlib.util.find_spec("jax") is None:
      self.skipTest("JAX is not installed")
    self._run("generate_tree.py", "--outputs_root=out")
    base = f"phasic.substrates.{substrate}"
    self._python("-m", f"tests.generated.{substrate}.shared.simple_test")
    self._python(
      "-c",
      f"import doctest, sys\nimport {base} as ph\n"
      "assert ph.math.simple and ph.__version__\n"
      f"from {base}.math import simple\n"
      "result = doctest.testmod(simple)\n"
      "sys.exit(result.failed or not result.attempted)",
    )

  def test_tree_is_kept_up_to_date(self):
    self._run("generate_tree.py", "--outputs_root=out")
    self.assertTrue((self.root / "out/tests/jax/only_test.py").exists())
    self.assertIn(
      " 0 changed, 0 problems",
      self._run("generate_tree.py", "--outputs_root=out"),
    )
    (self.root / "phasic/math/simple.py").unlink()
    (self.root / "phasic/math/__init__.py").write_text("import numpy\n")
    output = self._run("generate_tree.py", "--outputs_root=out", status=1)
    self.assertIn("phasic/math/__init__.py:1:1: NumPy is imported as", output)
    self.assertIn(" 1 problems", output)
    stale = self.root / "out/phasic/substrates/jax/math/simple.py"
    self.assertFalse(stale.exists())


if __name__ == "__main__":
  absltest.main()
