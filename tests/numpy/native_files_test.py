"""Files that bind_native is given: whole ones, and others."""

import contextlib
import os
import pathlib
import tempfile

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic.substrates.numpy import binding
from tests.native_ops import libraries


def _whole():
  return pathlib.Path(libraries.ops()).read_bytes()


class NativeFilesTest(parameterized.TestCase):
  def test_library_without_a_slash(self):
    with tempfile.TemporaryDirectory() as folder:
      os.symlink(libraries.ops(), os.path.join(folder, "libhere.so"))
      with contextlib.chdir(folder):
        op = binding.bind_native("libhere.so", "test_scale")
    onp.testing.assert_array_equal(op(2.0, onp.ones(3)), onp.full(3, 2.0))

  def test_no_library(self):
    with tempfile.TemporaryDirectory() as folder:
      path = os.path.join(folder, "lib.so")
      with self.assertRaisesRegex(
        FileNotFoundError,
        "op test_scale: library is .*lib.so, which does not exist",
      ):
        binding.bind_native(path, "test_scale")

  @parameterized.named_parameters(
    ("empty", lambda: b"", OSError, "cannot be loaded: .*too short"),
    ("text", lambda: b"text" * 99, OSError, "cannot be loaded: .*ELF header"),
    ("header", lambda: _whole()[:40], ValueError, "a part of the file"),
    ("table", lambda: _whole()[:100], ValueError, "a part of the file"),
    ("half", lambda: _whole()[: len(_whole()) // 2], ValueError, "a part of"),
    (
      "noise",
      lambda: _whole()[:16] + bytes(range(256)) * 99,
      ValueError,
      "a part of the file",
    ),
    (
      "tensorflow",
      lambda: _whole() + b"\0phasic_op_test_scale_register\0",
      ValueError,
      "which was compiled for TensorFlow: it must be the library for JAX",
    ),
  )
  def test_files_that_are_no_such_libraries(self, content, error, message):
    with tempfile.TemporaryDirectory() as folder:
      path = pathlib.Path(folder) / "libwrong.so"
      path.write_bytes(content())
      with self.assertRaisesRegex(
        error, f"op test_scale: library is .*libwrong.so.*{message}"
      ):
        binding.bind_native(path, "test_scale")

  @parameterized.parameters("", "/dev/zero")
  def test_no_files(self, path):
    with self.assertRaisesRegex(
      ValueError, "op test_scale: library is /.*, which is not a file"
    ):
      binding.bind_native(path, "test_scale")

  @parameterized.parameters(None, 3, b"lib.so", object())
  def test_no_paths(self, path):
    with self.assertRaisesRegex(TypeError, "op test_scale: library is .* path"):
      binding.bind_native(path, "test_scale")
    if path is not None:
      with self.assertRaisesRegex(TypeError, "op test_scale: tf_library is"):
        binding.bind_native(libraries.ops(), "test_scale", tf_library=path)

  def test_a_library_for_tensorflow_alone(self):
    for options in ({}, {"tf_library": "libops_tf.so"}):
      with self.assertRaisesRegex(
        TypeError,
        "^op test_scale: library is None: .* only TensorFlow takes an op of",
      ):
        binding.bind_native(None, "test_scale", **options)

  def test_another_kind_of_library(self):
    numpy = pathlib.Path(onp.__file__).parent
    path = next(numpy.rglob("_multiarray_umath*.so"))
    with self.assertRaisesRegex(
      ValueError, "op test_scale: library is .*, which has no such op"
    ):
      binding.bind_native(path, "test_scale")


if __name__ == "__main__":
  absltest.main()
