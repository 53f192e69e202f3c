"""Loading the native library never breaks JAX."""

import pathlib
import subprocess
import sys
import tempfile
import textwrap
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jaxlib

from phasic.substrates.jax.internal import exporting
from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal import kernel_ops
from phasic.substrates.jax.internal.native import ffi_versions

# Makes JAX know one of the names already, as another handler's.
_REFUSED = """
import ctypes, phasic._native._kernel as kernel
other = kernel.ffi_targets()["phasic_moments"]
jax.ffi.register_ffi_target("phasic_eliminate", other, platform="cpu")
jax.devices()
"""
# A program for which SETUP takes the kernel away; "" leaves no file of it.
_PORTABLE = """
import os, sys, tempfile, warnings
import jax
SETUP
if "phasic._native._kernel" not in sys.modules:
  import phasic._native
  phasic._native.__path__[:] = [tempfile.mkdtemp()]

def f(rate):
  return distributions.PhaseType([1.0], rate * -1.0).log_prob(0.5)

with warnings.catch_warnings(record=True) as found:
  warnings.simplefilter("always")
  from phasic.substrates.jax import distributions
  from phasic.substrates.jax.internal import kernel_common, kernel_ops
  for _ in range(2):
    value, gradient = jax.jit(jax.value_and_grad(f))(jax.numpy.ones((1, 1)))
    assert abs(value + 0.5) < 1e-6 and abs(gradient[0, 0] - 0.5) < 1e-5
found = [x for x in found if x.category is RuntimeWarning]
assert len(found) == 1 and found[0].filename == "<string>", found
print(found[0].message)
assert kernel_ops.path() == "portable"
os.environ["PHASIC_REQUIRE_KERNEL"] = "1"
kernel_common.required.cache_clear()
try:
  f(jax.numpy.ones((1, 1)))
except RuntimeError as error:
  print(error)
try:
  kernel_ops.set_path("kernel")
except RuntimeError as error:
  print(error)
"""


def _answer(frame):
  """A handler for the oldest version but one, as XLA asks it."""
  version = frame.contents.extension.contents.metadata.contents.version
  version.major, version.minor = 0, 1


def _run(code):
  """Runs code in a new process with this one's import path."""
  start = f"import sys; sys.path[:] = {sys.path!r}\n"
  return subprocess.run(
    [sys.executable, "-c", start + textwrap.dedent(code)],
    capture_output=True,
    text=True,
    check=False,
  )


class RegistrationTest(parameterized.TestCase):
  @parameterized.parameters(
    (3, 3, ""),
    (2, 5, ""),
    (4, 3, r"with XLA's FFI 0.3: it must have 0.4, .* --upgrade jax jaxlib$"),
    (
      1004,
      3,
      r"with XLA's FFI 0.3: it must have 1.4, .* --upgrade jax jaxlib$",
    ),
    (3, 1003, r"with XLA's FFI 1.3: .* --upgrade phasic-substrates$"),
    (3, -1, r"cannot be read from .*c_api.h: it must be known, .* jaxlib$"),
    (-1, 3, "handlers do not report the version .* phasic-substrates$"),
  )
  def test_versions(self, built, running, reason):
    actual = ffi_targets.version_reason(built, running)
    if reason:
      self.assertRegex(actual, f"^jaxlib is {jaxlib.__version__}.*{reason}")
    else:
      self.assertEqual(actual, "")

  def test_available_here(self):
    self.assertEqual(kernel_ops.unavailable_reason(), "")
    self.assertEqual(kernel_ops.path(), "kernel")
    targets = ffi_targets.load()[0].ffi_targets()
    self.assertContainsSubset(
      ["phasic_phase_type_forward", "phasic_call_python"], targets
    )
    built = {ffi_versions.capsule_version(targets[name]) for name in targets}
    self.assertLen(built, 1)
    self.assertBetween(built.pop(), 1, ffi_versions.running())

  def test_headers_of_other_jaxlibs(self):
    """The kernel as it is, where jaxlib has another version or does not tell."""
    text = ffi_versions.header().read_text()
    minor = ffi_versions.running() % 1000
    line = f"#define XLA_FFI_API_MINOR {minor}"
    self.assertIn(line, text)
    for content, reason in (
      (text.replace(line, "#define XLA_FFI_API_MINOR 0"), "it must have 0"),
      (text.replace(line, "#define XLA_FFI_API_MINOR"), "cannot be read"),
      (None, "cannot be read"),
    ):
      with self.subTest(reason), tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "xla", "ffi", "api", "c_api.h")
        path.parent.mkdir(parents=True)
        if content is not None:
          path.write_text(content)
        self.addCleanup(ffi_versions.running.cache_clear)
        ffi_versions.running.cache_clear()
        with mock.patch.object(jax.ffi, "include_dir", return_value=folder):
          kernel, actual = ffi_targets._load.__wrapped__()
          handler = ffi_versions.Handler(_answer)
          with self.assertRaisesRegex(ImportError, "own of lib.so"):
            ffi_targets.register("own", "lib.so", handler)
        self.assertIsNone(kernel)
        self.assertRegex(actual, f"^jaxlib is {jaxlib.__version__}.*{reason}")

  def test_choice_of_path(self):
    with kernel_ops.use_path("portable"):
      self.assertEqual(kernel_ops.path(), "portable")
      with kernel_ops.use_path("kernel"):
        self.assertEqual(kernel_ops.path(), "kernel")
      self.assertEqual(kernel_ops.path(), "portable")
    self.assertEqual(kernel_ops.path(), "kernel")
    with self.assertRaisesRegex(ValueError, "choice is 'fast'"):
      kernel_ops.set_path("fast")

  @parameterized.named_parameters(
    ("missing", "", "has no library _kernel"),
    ("refused", _REFUSED, "refuses the kernel's handlers: .*phasic"),
  )
  def test_unusable_library_leaves_the_portable_path(self, setup, reason):
    result = _run(_PORTABLE.replace("SETUP", setup))
    self.assertEqual(result.returncode, 0, result.stderr)
    warned, required, refused = result.stdout.splitlines()
    self.assertRegex(
      warned, f"^phasic runs without its native kernel, .*: .*{reason}"
    )
    self.assertRegex(required, f"^the native kernel .*{reason}.*KERNEL is 1")
    self.assertRegex(refused, reason)

  def test_export_helper_names_the_targets(self):
    checks = exporting.export_disabled_checks()
    expected = [
      jax.export.DisabledSafetyCheck.custom_call(name)
      for name in ffi_targets.load()[0].ffi_targets()
    ]
    self.assertEqual(checks[: len(expected)], expected)  # then users' own


if __name__ == "__main__":
  absltest.main()
