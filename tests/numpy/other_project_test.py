"""PyPI's other `phasic`, installed into the same folder: an error that says so."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from absl.testing import absltest

import phasic
from phasic import substrates

# The start of the other project's `__init__`.
_OTHERS = "from __future__ import annotations\n\nclass Graph: ...\n"


def _import(name, files):
  """Returns what importing a module of a folder with `phasic` prints.

  Args:
    name: the module.
    files: {path in phasic: text, or None for a file that is removed}; all
      others are ours.
  """
  with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder, "phasic")
    (root / "substrates").mkdir(parents=True)
    shutil.copy(phasic.__file__, root / "__init__.py")
    shutil.copy(substrates.__file__, root / "substrates" / "__init__.py")
    for path, text in files.items():
      if text is None:
        (root / path).unlink()
      else:
        (root / path).write_text(text)
    code = (
      f"try:\n  import {name}\nexcept ImportError as error:\n  print(error)"
    )
    result = subprocess.run(
      [sys.executable, "-c", code],
      capture_output=True,
      text=True,
      check=True,
      cwd=folder,
      # Packages on the path would come before one without an __init__.
      env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
    )
  return result.stdout


class OtherProjectTest(absltest.TestCase):
  def test_alone(self):
    self.assertEqual(_import("phasic.substrates", {}), "")

  def test_ours_came_last(self):
    for name in ("phasic.h", "svgd.py"):
      for module in ("phasic", "phasic.substrates"):
        self.assertRegex(
          _import(module, {name: ""}),
          "phasic has files of another project: .*pip uninstall phasic "
          "phasic-substrates; pip install phasic-substrates",
        )

  def test_the_other_came_last(self):
    self.assertRegex(
      _import("phasic.substrates", {"__init__.py": _OTHERS, "svgd.py": ""}),
      "__init__.py is of another project, PyPI's phasic; .*pip uninstall phasic "
      "phasic-substrates; pip install phasic-substrates",
    )

  def test_the_other_was_removed(self):
    self.assertRegex(
      _import("phasic.substrates", {"__init__.py": None}),
      "phasic has no __init__.py: .* PyPI's phasic, .* pip install "
      "--force-reinstall --no-deps phasic-substrates",
    )


if __name__ == "__main__":
  absltest.main()
