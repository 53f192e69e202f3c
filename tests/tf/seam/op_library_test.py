"""Files that are not the op library: each is a reason, and no crash."""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized
import tensorflow as tf

from phasic import _native
from phasic.substrates.tf.internal import op_library
from tests.native_ops import libraries

_BUILD = "build it: pip install --no-binary phasic-substrates .*"
_REINSTALL = (
  "; reinstall it: pip install --force-reinstall .*phasic-substrates$"
)


def _library():
  return pathlib.Path(op_library._path()).read_bytes()


def _for_another_processor():
  content = bytearray(_library())
  machine = int.from_bytes(content[18:20], "little")
  content[18:20] = (62 if machine == 183 else 183).to_bytes(2, "little")
  return bytes(content)


def _another_library():
  return pathlib.Path(libraries.ops_tf()).read_bytes()


class OpLibraryTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    if op_library.load_error():
      self.skipTest(op_library.load_error())

  @parameterized.named_parameters(
    ("missing", lambda: None, "there is no op library .* for linux"),
    ("empty", lambda: b"", f"TensorFlow {tf.__version__} cannot load .*short"),
    ("text", lambda: b"text" * 99, "cannot load .*ELF header"),
    ("header", lambda: _library()[:40], "a part of the file is missing"),
    ("half", lambda: _library()[: len(_library()) // 2], "a part of the file"),
    ("another", _another_library, "does not register the op phasic_"),
    ("processor", _for_another_processor, "was built for .* this processor is"),
  )
  def test_reasons(self, content, reason):
    data = content()
    with tempfile.TemporaryDirectory() as folder:
      if data is not None:
        pathlib.Path(folder, "libphasic_tf.so").write_bytes(data)
      with mock.patch.object(_native, "__path__", [folder]):
        ops, actual = op_library._load()
    self.assertIsNone(ops)
    self.assertRegex(actual, f"{reason}.*(?:{_REINSTALL}|{_BUILD})")

  def test_calls_without_the_library(self):
    code = """
      import os, sys, tempfile, warnings
      sys.path[:] = sys.argv[1:]
      import phasic._native
      phasic._native.__path__[:] = [tempfile.mkdtemp()]
      import tensorflow as tf

      @tf.function
      def gradient(rate):
        with tf.GradientTape() as tape:
          tape.watch(rate)
          value = distributions.PhaseType([1.0], rate * -1.0).log_prob(0.5)
        return value, tape.gradient(value, rate)

      with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        from phasic.substrates.tf import distributions
        from phasic.substrates.tf.internal import kernel_common, kernel_ops
        for _ in range(2):
          value, bar = gradient(tf.ones((1, 1)))
          assert abs(value + 0.5) < 1e-6 and abs(bar[0, 0] - 0.5) < 1e-5
      found = [x for x in found if "kernel" in str(x.message)]
      assert len(found) == 1 and found[0].filename == "<string>", found
      print(found[0].message)
      assert kernel_ops.path() == "portable"
      os.environ["PHASIC_REQUIRE_KERNEL"] = "1"
      kernel_common.required.cache_clear()
      try:
        distributions.PhaseType([1.0], [[-1.0]]).log_prob(0.5)
      except RuntimeError as error:
        print(error)
    """
    result = subprocess.run(
      [sys.executable, "-c", textwrap.dedent(code), *sys.path],
      capture_output=True,
      text=True,
      check=False,
      env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    self.assertEqual(result.returncode, 0, result.stderr[-3000:])
    warned, required = result.stdout.splitlines()
    reason = "there is no op library "
    self.assertRegex(warned, f"^phasic runs without .* path, .*: {reason}")
    self.assertRegex(required, f": {reason}.*PHASIC_REQUIRE_KERNEL is 1")


if __name__ == "__main__":
  absltest.main()
