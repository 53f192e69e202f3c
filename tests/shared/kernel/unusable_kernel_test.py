"""A kernel that cannot run is reported at import, or calls raise."""

import contextlib
import os
from unittest import mock
import warnings

from absl.testing import absltest
import numpy as onp

from phasic import config
from phasic import math as pm
from phasic.internal import kernel_common
from phasic.internal import kernel_ops
from tests.helpers import test_case

_VARIABLE = "PHASIC_REQUIRE_KERNEL"


def _call():
  """Makes the first call that every function of the seam makes."""
  return kernel_ops.path_of_call()


class UnusableKernelTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    patched = contextlib.ExitStack()
    self.addCleanup(kernel_common.required.cache_clear)
    self.addCleanup(patched.close)
    patched.enter_context(
      mock.patch.multiple(
        kernel_ops._kernel,
        unavailable_reason=lambda: "the file is missing; install it",
        is_suitable=lambda: True,
        choice="auto",
        can_run=False,
      )
    )
    patched.enter_context(mock.patch.dict(os.environ))
    self.set_variable(None)

  def set_variable(self, value):
    os.environ.pop(_VARIABLE, None)
    if value is not None:
      os.environ[_VARIABLE] = value
    kernel_common.required.cache_clear()

  def warned(self, call=kernel_ops.warn_if_missing):
    """Returns the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
      warnings.simplefilter("always")
      call()
    return [x for x in caught if "native kernel" in str(x.message)]

  def test_one_line_at_import(self):
    (warning,) = self.warned()
    self.assertIs(warning.category, RuntimeWarning)
    self.assertEqual(warning.filename, __file__)
    self.assertRegex(
      str(warning.message),
      r"^phasic runs without its native kernel, on the portable path, which is "
      r"about \d+ times slower: the file is missing; install it .*=0.*$",
    )

  def test_calls_are_quiet(self):
    # A unique size, as JAX would reuse a traced program.
    model = onp.ones(7) / 7.0, -2.0 * onp.eye(7)

    def call():
      self.assert_close(pm.phase_type.mean(*model), 0.5, rtol=1e-6)

    self.assertEmpty(self.warned(call))

  def test_required(self):
    self.set_variable("1")
    for _ in range(2):
      with self.assertRaisesRegex(
        RuntimeError,
        "^the native kernel cannot run: the file is missing; install it. "
        "PHASIC_REQUIRE_KERNEL is 1",
      ):
        _call()
    with config.use_path("portable"):
      self.assertEqual(_call(), "portable")

  def test_set_variable_is_quiet_at_import(self):
    for value in ("0", "1", "yes"):
      self.set_variable(value)
      self.assertEmpty(self.warned())

  def test_not_required(self):
    self.set_variable("0")
    self.assertEqual(_call(), "portable")

  def test_unknown_values_of_the_variable(self):
    for value in ("yes", "2", " "):
      self.set_variable(value)
      with self.assertRaisesRegex(
        ValueError,
        f"^PHASIC_REQUIRE_KERNEL is '{value}': it must be 1, .* or 0",
      ):
        _call()

  def test_other_devices_do_not_require_it(self):
    self.set_variable("1")
    with mock.patch.object(
      kernel_ops._kernel, "is_suitable", return_value=False
    ):
      self.assertEqual(_call(), "portable")

  def test_asking_does_not_raise(self):
    self.set_variable("1")
    self.assertEqual(config.path(), "portable")
    with self.assertRaisesRegex(RuntimeError, "^the file is missing"):
      kernel_ops.set_path("kernel")


if __name__ == "__main__":
  absltest.main()
