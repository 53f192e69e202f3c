"""float32 beside float64: results are float64, in TensorFlow an error."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import math as pm
from phasic.internal import static
from tests.helpers import family_cases
from tests.helpers import test_case

MODE = "numpy"
_CASES = {k: x for k, x in family_cases.CASES.items() if k != "erlang_1000"}
_FAMILIES = tuple(_CASES)
if MODE != "numpy":  # Each is compiled for seconds.
  _FAMILIES = ("erlang", "weibull", "zero_inflated", "trials")
_METHODS = ("log_prob", "cdf", "log_survival_function")


def _law(case, numbers, dtype):
  """Builds a distribution of numbers that float32 can hold, in a dtype."""
  given = {k: onp.asarray(x, onp.float32) for k, x in numbers.items()}
  return case.build(
    **{k: np.asarray(x.astype(dtype)) for k, x in given.items()}
  )


class PrecisionTest(test_case.TestCase):
  @parameterized.parameters(*_FAMILIES)
  def test_families(self, family):
    case = _CASES[family]
    narrow, wide = (
      _law(case, case.parameters, dtype) for dtype in ("float32", "float64")
    )
    values = onp.asarray(case.values[1:4], onp.float32)
    more = values.astype(onp.float64)
    for dist, beside in ((wide, values), (narrow, more)):
      for method in _METHODS:
        call = getattr(dist, method)
        if MODE == "tf":
          with self.assertRaisesRegex(TypeError, "float(32|64).*tf.cast"):
            call(beside)
        else:
          found = call(beside)
          self.assertEqual(static.dtype_name(found), "float64")
          # Some families compute with parameters in another order.
          self.assert_close(found, getattr(wide, method)(more), 1e-13)
    self.assertEqual(static.dtype_name(narrow.log_prob(values)), "float32")
    self.assertEqual(static.dtype_name(narrow.log_prob(1.0)), "float32")

  def test_parameters(self):
    rate, half = np.asarray(onp.float32(1.5)), np.asarray(onp.float64(0.5))
    matrix, start = -onp.ones((1, 1)), onp.ones(1, onp.float32)
    erlang = pd.Erlang(2, rate)
    for make in (
      lambda: pd.PhaseType(start, matrix),
      lambda: pd.ZeroInflated(erlang, half),
      lambda: pd.ZeroInflated(pd.Erlang(2, half), rate / 3),
      lambda: pd.maximum([erlang, pd.Erlang(1, half)]),
      lambda: pd.mixture(onp.asarray([0.5, 0.5]), [erlang, erlang]),
      lambda: pd.MatrixWeibull(erlang, half),
    ):
      if MODE == "tf":
        with self.assertRaisesRegex(TypeError, "float(32|64).*float(32|64)"):
          make()
      else:
        self.assertEqual(make().dtype, "float64")

  def test_functions(self):
    def call():
      return pm.phase_type.survival_function(
        onp.float32(2.0), [1.0], onp.asarray([[-0.5]])
      )

    if MODE == "tf":
      with self.assertRaisesRegex(TypeError, "value is float32: .* tf.cast"):
        call()
    else:
      self.assertEqual(static.dtype_name(call()), "float64")
      self.assert_close(call(), onp.exp(-1.0), 1e-14)

  def test_divergences(self):
    narrow = pd.Erlang(2, np.asarray(onp.float32(0.75)))
    wide = pd.Erlang(2, np.asarray(onp.float64(0.5)))
    # n (log(a / b) + b / a - 1), as for exponential times.
    truth = 2 * (onp.log(1.5) + 1 / 1.5 - 1)
    if MODE == "tf":
      with self.assertRaisesRegex(TypeError, "p is float32 and q is float64"):
        narrow.kl_divergence(wide)
    else:
      self.assert_close(narrow.kl_divergence(wide), truth, 1e-9)
      entropy = narrow.cross_entropy(wide) - truth
      self.assert_close(entropy, pd.Erlang(2, 0.75).entropy(), 1e-9)

  def test_lists_of_arrays(self):
    dist = pd.Erlang(2, np.asarray(onp.float32(0.75)))
    values = [np.asarray(onp.float64(1.0)), np.asarray(onp.float64(2.0))]
    # NumPy's lists of arrays are numbers, which take any dtype.
    expected = "float32"
    if MODE == "jax":
      expected = "float64"
    if MODE == "tf":
      with self.assertRaisesRegex(TypeError, "float64"):
        dist.log_prob(values)
    else:
      found = dist.log_prob(values)
      self.assertEqual(static.dtype_name(found), expected)
      truth = onp.log(0.75**2 * onp.asarray([1, 2])) - onp.asarray([0.75, 1.5])
      self.assert_close(found, truth, 1e-6)


if __name__ == "__main__":
  absltest.main()
