"""Tests of the checks of wheels as they are shipped."""

import pathlib

from absl.testing import absltest
import numpy as np

from tools.wheel import build
from tools.wheel import shipped

_INFO = "phasic_substrates-0.1.0.dist-info"


def _write_wheel(folder, tag, libraries):
  """Writes a wheel that pip accepts, with some libraries."""
  files = {
    f"{_INFO}/METADATA": b"Metadata-Version: 2.1\nName: phasic-substrates\nVersion: 0.1.0\n",
    f"{_INFO}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
    **libraries,
  }
  path = pathlib.Path(folder) / f"phasic_substrates-0.1.0-{tag}.whl"
  build.write_zip(path, files, _INFO)
  return path


class ShippedTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = self.create_tempdir().full_path
    # A library of a wheel of this machine, which needs some version of glibc.
    (library,) = (pathlib.Path(np.__file__).parent / "_core").glob(
      "_multiarray_umath.*.so"
    )
    self.library = library.read_bytes()

  def test_newest_symbols_of_each_library_are_compared(self):
    latest = max(shipped.glibc_versions(self.library))
    self.assertGreater(latest, (2, 2))
    path = _write_wheel(self.folder, "any", {"a.so": self.library})
    self.assertEmpty(shipped.newer_symbols(path, latest[1]))
    (problem,) = shipped.newer_symbols(path, latest[1] - 1)
    self.assertStartsWith(problem, f"a.so needs glibc 2.{latest[1]}")

  def test_wheel_without_libraries_is_a_problem(self):
    path = _write_wheel(self.folder, "any", {})
    self.assertLen(shipped.newer_symbols(path, 28), 1)

  def test_pip_takes_the_wheel_of_a_processor_and_a_python(self):
    for tag in (
      "cp311-cp311-manylinux_2_28_x86_64",
      "cp311-cp311-manylinux_2_28_aarch64",
      "cp314-cp314-manylinux_2_28_aarch64",
      "py3-none-any",
    ):
      _write_wheel(self.folder, tag, {"a.so": b""})
    for python, platform, tag in (
      ("3.11", "manylinux_2_28_aarch64", "cp311-cp311-manylinux_2_28_aarch64"),
      ("3.14", "manylinux_2_28_aarch64", "cp314-cp314-manylinux_2_28_aarch64"),
      ("3.14", "macosx_14_0_arm64", "py3-none-any"),
    ):
      taken = shipped.taken_by_pip(pathlib.Path(self.folder), python, platform)
      self.assertEndsWith(taken, f"-{tag}.whl")


if __name__ == "__main__":
  absltest.main()
