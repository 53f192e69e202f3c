"""A kernel that cannot run is reported once, or is an error."""

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
        _has_warned=False,
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

  def warned(self, call=_call):
    """Returns the warnings of two calls."""
    with warnings.catch_warnings(record=True) as found:
      warnings.simplefilter("always")
      for _ in range(2):
        call()
    return [x for x in found if "native kernel" in str(x.message)]

  def test_warns_once_at_the_line_of_the_caller(self):
    # A unique size, as JAX would reuse a traced program.
    model = onp.ones(7) / 7.0, -2.0 * onp.eye(7)

    def call():
      self.assert_close(pm.phase_type.mean(*model), 0.5, rtol=1e-6)

    found = self.warned(call)
    self.assertLen(found, 1)
    self.assertIs(found[0].category, RuntimeWarning)
    self.assertEqual(found[0].filename, call.__code__.co_filename)
    self.assertEqual(found[0].lineno, call.__code__.co_firstlineno + 1)
    self.assertStartsWith(
      str(found[0].message),
      "the native kernel cannot run: the file is missing; install it. Calls "
      "take the portable path instead",
    )
    self.assertIn("PHASIC_REQUIRE_KERNEL=1", str(found[0].message))

  def test_filters_that_make_it_an_error(self):
    with warnings.catch_warnings():
      warnings.filterwarnings("error", "the native kernel")
      for _ in range(2):
        with self.assertRaisesRegex(RuntimeWarning, "native kernel"):
          _call()

  def test_required(self):
    self.set_variable("1")
    for _ in range(2):
      with self.assertRaisesRegex(
        RuntimeError,
        "^the native kernel cannot run: the file is missing; install it. "
        "PHASIC_REQUIRE_KERNEL is 1",
      ):
        _call()
    with kernel_ops.use_path("portable"):
      self.assertEmpty(self.warned())

  def test_not_required(self):
    self.set_variable("0")
    self.assertEmpty(self.warned())

  def test_unknown_values_of_the_variable(self):
    for value in ("yes", "2", " "):
      self.set_variable(value)
      with self.assertRaisesRegex(
        ValueError,
        f"^PHASIC_REQUIRE_KERNEL is '{value}': it must be 1, .* or 0",
      ):
        _call()

  def test_quiet_where_the_path_is_meant(self):
    with kernel_ops.use_path("portable"):
      self.assertEmpty(self.warned())
    with mock.patch.object(
      kernel_ops._kernel, "is_suitable", return_value=False
    ):
      self.assertEmpty(self.warned())
      self.set_variable("1")
      self.assertEmpty(self.warned())

  def test_asking_does_not_warn(self):
    self.set_variable("1")
    self.assertEqual(config.path(), "portable")
    with self.assertRaisesRegex(RuntimeError, "^the file is missing"):
      kernel_ops.set_path("kernel")


if __name__ == "__main__":
  absltest.main()
