"""Files that are not the kernel's library: each is a reason, and no crash."""

import contextlib
import os
import pathlib
import sys
import tempfile
from unittest import mock
import warnings

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import _native
from phasic.substrates.numpy import config
from phasic.substrates.numpy import math as pm
from phasic.substrates.numpy.internal import kernel_common
from phasic.substrates.numpy.internal import kernel_ops
from phasic.substrates.numpy.internal import native_module

_MODULE = "phasic._native._kernel"
_REMEDY = "; (reinstall|build) it: pip install .*phasic-substrates"


def _library():
  return pathlib.Path(next(iter(_native.__path__)), "_kernel.so").read_bytes()


def _another_library():
  folder = pathlib.Path(onp.__file__).parent
  return next(folder.rglob("_multiarray_umath*.so")).read_bytes()


def _for_another_processor():
  content = bytearray(_library())
  machine = int.from_bytes(content[18:20], "little")
  content[18:20] = (62 if machine == 183 else 183).to_bytes(2, "little")
  return bytes(content)


@contextlib.contextmanager
def _kernel_is(content, name="_kernel.so"):
  """Puts a file in the place of the kernel's library, or none."""
  with tempfile.TemporaryDirectory() as folder:
    if content is not None:
      pathlib.Path(folder, name).write_bytes(content)
    with (
      mock.patch.object(_native, "__path__", [folder]),
      mock.patch.dict(sys.modules),
    ):
      sys.modules.pop(_MODULE, None)
      native_module.load.cache_clear()
      kernel_common.required.cache_clear()
      yield folder
  native_module.load.cache_clear()
  kernel_common.required.cache_clear()


class KernelFilesTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    if config.unavailable_reason():
      self.skipTest(config.unavailable_reason())

  @parameterized.named_parameters(
    ("missing", lambda: None, "has no library _kernel for cpython 3"),
    ("empty", lambda: b"", "cannot load .*too short"),
    ("text", lambda: b"text" * 99, "cannot load .*ELF header"),
    ("header", lambda: _library()[:40], "a part of the file is missing"),
    ("half", lambda: _library()[: len(_library()) // 2], "a part of the file"),
    ("another", _another_library, "cannot load .*PyInit__kernel"),
    ("processor", _for_another_processor, "was built for .* this processor is"),
  )
  def test_reasons(self, content, reason):
    with _kernel_is(content()):
      with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        kernel_ops.warn_if_missing()
        value = pm.phase_type.log_prob(0.5, [1.0], [[-2.0]])
      self.assertAlmostEqual(value, onp.log(2.0) - 1.0)
      self.assertLen(found, 1)
      self.assertRegex(
        str(found[0].message),
        f"^phasic runs without its native kernel, .*: .*{reason}.*{_REMEDY}",
      )
      self.assertRegex(config.unavailable_reason(), f"{reason}.*{_REMEDY}")
      self.assertEqual(config.path(), "portable")
    self.assertEqual(config.path(), "kernel")

  def test_remedies(self):
    with _kernel_is(None):
      self.assertIn(
        "build it: pip install --no-binary phasic-substrates phasic-substrates",
        config.unavailable_reason(),
      )
    with _kernel_is(_library(), "_kernel.cpython-399-x86_64-linux-gnu.so"):
      self.assertIn("; reinstall it: pip install", config.unavailable_reason())

  def test_library_for_another_python(self):
    name = "_kernel.cpython-399-x86_64-linux-gnu.so"
    with _kernel_is(_library(), name):
      self.assertRegex(
        config.unavailable_reason(), f"for cpython 3.*, only {name};"
      )

  def test_unreadable_library(self):
    with _kernel_is(None) as folder:
      os.symlink("_kernel.so", os.path.join(folder, "_kernel.so"))
      self.assertRegex(config.unavailable_reason(), "_kernel")

  def test_required(self):
    environment = {"PHASIC_REQUIRE_KERNEL": "1"}
    with (
      mock.patch.dict(os.environ, environment),
      _kernel_is(_library()[:10000]),
    ):
      with self.assertRaisesRegex(
        RuntimeError, "a part of the file is missing; .*PHASIC_REQUIRE_KERNEL"
      ):
        pm.phase_type.log_prob(0.5, [1.0], [[-2.0]])
      with config.use_path("portable"):
        pm.phase_type.log_prob(0.5, [1.0], [[-2.0]])


if __name__ == "__main__":
  absltest.main()
