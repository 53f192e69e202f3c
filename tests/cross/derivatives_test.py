"""Derivatives of distributions in their parameters, in NumPy and JAX.

PHASIC_FULL_SWEEPS runs all distributions; JAX compiles each for seconds.
"""

from collections.abc import Iterable
import os
from typing import Any

from absl.testing import absltest
from absl.testing import parameterized
import jax
import numpy as onp

from tests.cross import comparisons
from tests.cross import public_distributions_cases as cases

# Vectors have no density, and the last two return no law.
_WITHOUT_VALUES = (
  *("GraphMultivariatePhaseType", "MultivariatePhaseType"),
  *("MultivariateEpochs", "piecewise_constant", "piecewise_constant_limit"),
)
_LAWS = tuple(
  name
  for name in (*cases.FAMILIES, *cases.FUNCTIONS)
  if name not in _WITHOUT_VALUES
)
_SOME = [("Coxian",), ("Epochs",), ("TruncatedPhaseType",)]
_OTHERS = [(name,) for name in _LAWS if (name,) not in _SOME]
_SLOW_FITS = ("TruncatedPhaseType", "convolution")
# Values where all derivatives are finite, and counts instead of times.
_TIMES = onp.asarray([0.375, 1.25, 3.5])
_COUNTS = onp.asarray([2.0, 3.0, 6.0])


def _more(cases_of_sweep: Iterable[Any]) -> list[Any]:
  """Returns the cases of a full sweep."""
  is_full = os.environ.get("PHASIC_FULL_SWEEPS") == "1"
  return list(cases_of_sweep) if is_full else []


def _law(name: str, substrate: str) -> tuple[Any, Any, Any]:
  """Returns a distribution, its arrays by name, and a function to rebuild it."""
  x = cases.Substrate(substrate)
  dist = {**cases.FAMILIES, **cases.FUNCTIONS}[name](x)
  if (
    not dist.parameter_properties()
  ):  # Its only argument is another distribution.
    inner = dist.distribution
    arrays = {k: inner.parameters[k] for k in inner.parameter_properties()}
    return (
      dist,
      {k: v for k, v in arrays.items() if v is not None},
      lambda own: dist.copy(distribution=inner.copy(**own)),
    )
  arrays = {k: dist.parameters[k] for k in dist.parameter_properties()}
  if name == "Epochs":
    arrays["params"] = list(arrays["params"])
  arrays = {k: v for k, v in arrays.items() if v is not None}
  return dist, arrays, lambda own: dist.copy(**own)


def _derivatives(name: str, substrate: str, statistic: str) -> Any:
  """Computes gradient and Hessian-vector product of a sum of log densities."""
  math = comparisons.SUBSTRATES[substrate].math
  dist, arrays, made = _law(name, substrate)
  is_discrete = dist.support.constraint == "nonnegative_integer"
  values = comparisons.to_substrate(
    _COUNTS if is_discrete else _TIMES, substrate
  )

  def total(own: Any) -> Any:
    law = made(own)
    if statistic == "log_prob":
      return law.log_prob(values)
    return getattr(law, statistic)()

  tangents = jax.tree.map(
    lambda v: comparisons.to_substrate(0.25 * onp.asarray(v), substrate), arrays
  )

  def run() -> Any:
    product = None
    value, gradient = math.value_and_gradient(total, arrays)
    if statistic == "log_prob":
      product = math.hessian_vector_product(total, (arrays,), (tangents,))
    return value, gradient, product

  return jax.jit(run)() if substrate == "jax" else run()


class DerivativesTest(comparisons.TestCase):
  @parameterized.parameters(*[*_SOME, *_more(_OTHERS)])
  def test_log_likelihood(self, name):
    value, gradient, product = _derivatives(name, "numpy", "log_prob")
    expected = _derivatives(name, "jax", "log_prob")
    onp.testing.assert_allclose(value, expected[0], rtol=1e-12, atol=1e-12)
    self._compare(gradient, expected[1], 1e-12)
    self._compare(product, expected[2], 1e-9)

  @parameterized.parameters(
    ("mean", "Coxian"),
    ("entropy", "MatrixWeibull"),
    *_more(
      (statistic, name)
      for statistic in ("mean", "variance", "entropy")
      for name in ("GraphPhaseType", "HyperErlang")
    ),
  )
  def test_statistics(self, statistic, name):
    value, gradient, _ = _derivatives(name, "numpy", statistic)
    expected = _derivatives(name, "jax", statistic)
    onp.testing.assert_allclose(value, expected[0], rtol=1e-12)
    self._compare(gradient, expected[1], 1e-12)

  def _compare(self, found: Any, expected: Any, tolerance: float) -> None:
    """Compares arrays, relative to the largest entry of each."""
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True)
    for x, y in pairs:
      y = onp.asarray(y)
      self.assertEqual(onp.shape(x), y.shape)
      scale = onp.max(onp.abs(y), initial=1.0)
      onp.testing.assert_allclose(x, y, rtol=0, atol=tolerance * scale)


class FitsTest(comparisons.TestCase):
  """Tests derivatives of wrapped distributions, in all three substrates."""

  def _fit(self, name: str, substrate: str) -> Any:
    x = cases.Substrate(substrate)
    inference = comparisons.SUBSTRATES[substrate].inference
    rates = onp.asarray([0.7, 1.1, 0.9, 1.3, 2.1, 1.6, 0.6, 2.9, 1.2, 1.8])
    lower = onp.concatenate([rates, [1.0, 0.5]])
    upper = onp.concatenate([rates, [onp.inf, 1.5]])
    start = {
      "TruncatedPhaseType": lambda: x.pd.TruncatedPhaseType(
        x.pd.Erlang(2, x.array(1.0)), x.array(0.25), x.array(8.0)
      ),
      "MatrixWeibull": lambda: x.pd.MatrixWeibull(
        x.pd.Erlang(1, x.array(1.0)), x.array(1.25)
      ),
      "convolution": lambda: x.pd.convolution(
        [x.pd.Erlang(1, x.array(1.0)), x.pd.Erlang(1, x.array(3.0))]
      ),
    }[name]()
    data = inference.Observations(x.array(lower), x.array(upper))
    return inference.fit_mle(start, data)

  @parameterized.parameters(
    ("MatrixWeibull", "tf"),
    *_more([("MatrixWeibull", "jax")]),
    *_more((name, x) for name in _SLOW_FITS for x in comparisons.OTHERS),
  )
  def test_fits(self, name, substrate):
    expected, fit = self._fit(name, "numpy"), self._fit(name, substrate)
    self.assertTrue(expected.record.converged and fit.record.converged)
    self.assertAlmostEqual(
      fit.log_likelihood, expected.log_likelihood, delta=1e-10
    )
    self.assertEqual(fit.statuses, expected.statuses)
    for path, errors in expected.standard_errors.items():
      errors = onp.asarray(errors)
      x, y = fit.distribution, expected.distribution
      for part in path.split("."):
        x, y = getattr(x, part), getattr(y, part)
      if isinstance(y, comparisons.SUBSTRATES["numpy"].math.EdgeRates):
        x, y = x.parameters, y.parameters
      known = onp.isfinite(errors)
      gap = onp.abs(onp.asarray(x) - onp.asarray(y))
      self.assertTrue(onp.all(gap[known] <= 1e-5 * errors[known]), path)
      onp.testing.assert_allclose(
        onp.asarray(fit.standard_errors[path]), errors, rtol=1e-6
      )


if __name__ == "__main__":
  absltest.main()
