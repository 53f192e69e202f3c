"""Loading the native library never breaks JAX."""

import subprocess
import sys
import textwrap

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jaxlib

from phasic.substrates.jax.internal import exporting
from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal import kernel_ops


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
    ("0.6.2", "0.10.2", ""),
    ("0.10.2", "0.10.2", ""),
    ("0.10.2", "0.10.10", ""),
    ("0.10.2", "0.10.3.dev20260101", ""),
    ("0.10.2", "0.9.9", "is older"),
    ("0.10.2", "0.10.1", "is older"),
    ("", "0.10.2", "without JAX"),
  )
  def test_versions(self, built, running, reason):
    actual = ffi_targets.version_reason(built, running)
    if reason:
      self.assertIn(reason, actual)
    else:
      self.assertEqual(actual, "")

  def test_available_here(self):
    self.assertEqual(kernel_ops.unavailable_reason(), "")
    self.assertEqual(kernel_ops.path(), "kernel")
    built = ffi_targets.load()[0].build_info()["jaxlib"]
    self.assertEqual(ffi_targets.version_reason(built), "")
    self.assertEqual(ffi_targets.version_reason(built, jaxlib.__version__), "")

  def test_choice_of_path(self):
    with kernel_ops.use_path("portable"):
      self.assertEqual(kernel_ops.path(), "portable")
      with kernel_ops.use_path("kernel"):
        self.assertEqual(kernel_ops.path(), "kernel")
      self.assertEqual(kernel_ops.path(), "portable")
    self.assertEqual(kernel_ops.path(), "kernel")
    with self.assertRaisesRegex(ValueError, "path is 'fast'"):
      kernel_ops.set_path("fast")

  def test_import_registers_and_starts_no_backend(self):
    result = _run("""
      import phasic.substrates.jax
      from jax.extend import backend
      from phasic.substrates.jax.internal import ffi_targets
      assert ffi_targets._load.cache_info().currsize == 1
      import jax
      assert not jax._src.xla_bridge._backends
    """)
    self.assertEqual(result.returncode, 0, result.stderr)

  @parameterized.named_parameters(
    ("missing", "sys.modules['phasic._native._kernel'] = None", "loaded"),
    (
      "newer",
      "sys.modules['phasic._native._kernel'] = native('99.0.0')",
      "is older",
    ),
    (
      "without_jax",
      "sys.modules['phasic._native._kernel'] = native('')",
      "without JAX",
    ),
    (
      "broken",
      "sys.modules['phasic._native._kernel'] = native('0.0.1')",
      "cannot be registered",
    ),
  )
  def test_unusable_library_leaves_the_portable_path(self, setup, reason):
    result = _run(f"""
      import types

      def native(version):
        module = types.ModuleType("_kernel")
        module.build_info = lambda: {{"jaxlib": version}}
        module.ffi_targets = dict
        import phasic._native
        phasic._native._kernel = module
        return module

      {setup}
      import jax
      from phasic.substrates.jax import distributions
      from phasic.substrates.jax.internal import kernel_ops

      def f(rate):
        return distributions.PhaseType([1.0], rate * -1.0).log_prob(0.5)

      value, gradient = jax.value_and_grad(f)(jax.numpy.ones((1, 1)))
      assert abs(value + 0.5) < 1e-6 and abs(gradient[0, 0] - 0.5) < 1e-5
      assert kernel_ops.path() == "portable"
      try:
        kernel_ops.set_path("kernel")
      except RuntimeError as error:
        print(error)
    """)
    self.assertEqual(result.returncode, 0, result.stderr)
    self.assertIn(reason, result.stdout)

  def test_export_helper_names_the_targets(self):
    checks = exporting.export_disabled_checks()
    expected = [
      jax.export.DisabledSafetyCheck.custom_call(name)
      for name in ffi_targets.TARGETS
    ]
    self.assertEqual(checks[: len(expected)], expected)  # then users' own


if __name__ == "__main__":
  absltest.main()
