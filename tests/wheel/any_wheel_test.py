"""The wheel for any system: its files, and that it imports and computes.

`tests/wheel/any_suite.py` has the long part.
"""

import os
import pathlib
import subprocess
import tempfile
import zipfile

from absl.testing import absltest
from absl.testing import parameterized

from tests.wheel import environments

_PACKAGES = {"numpy": "numpy", "jax": "jax", "tf": "tensorflow-cpu"}


def _wheel() -> pathlib.Path:
  (wheel,) = pathlib.Path("tools/wheel/any_wheel").glob("*.whl")
  return wheel.absolute()


class AnyWheelTest(parameterized.TestCase):
  def test_has_no_native_code(self):
    self.assertEndsWith(_wheel().name, "-py3-none-any.whl")
    with zipfile.ZipFile(_wheel()) as archive:
      names = archive.namelist()
    endings = {pathlib.PurePath(name).suffix for name in names}
    self.assertNoCommonElements(endings, {".so", ".a", ".o", ".dylib", ".pyd"})
    for substrate in _PACKAGES:
      self.assertIn(f"phasic/substrates/{substrate}/__init__.py", names)

  @parameterized.parameters(*_PACKAGES)
  def test_imports_say_one_line_and_compute(self, substrate):
    folder = pathlib.Path(self.enter_context(tempfile.TemporaryDirectory()))
    python = environments.create(folder / "venv", [_PACKAGES[substrate]])
    environments.install(python, _wheel())
    check = pathlib.Path("tests/wheel/isolated_any.py").absolute()
    result = subprocess.run(
      [str(python), "-I", str(check), substrate],
      env={
        "PATH": str(folder),
        "HOME": str(folder),
        "JAX_PLATFORMS": "cpu",
        "TF_CPP_MIN_LOG_LEVEL": os.environ.get("TF_CPP_MIN_LOG_LEVEL", "3"),
      },
      capture_output=True,
      text=True,
      check=False,
    )
    self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
  absltest.main()
