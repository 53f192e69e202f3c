"""Derivatives with respect to edges, whose sources and targets are constants.

They are compared with the derivatives with respect to the parameters alone.
"""

import collections

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import math as pm
from tests.helpers import test_case

# Functions of integers on the host that make sources or targets.
_ENDS = {
  "list": list,
  "tuple": tuple,
  "range": lambda x: range(x[0], x[-1] + 1),
  "list_of_scalars": lambda x: list(onp.asarray(x)),
  "host_array": onp.asarray,
  "array": np.asarray,
}
_START = [1.0, 0.0]
_VALUE = 3.0


def _rate_log_prob(edges):
  return pm.phase_type.log_prob(_VALUE, _START, edges)


def _rate_log_prob_of_distribution(edges):
  return pd.PhaseType(_START, edges).log_prob(_VALUE)


def _prob_log_prob(edges):
  return pm.discrete_phase_type.log_prob(_VALUE, _START, edges)


def _prob_log_prob_of_distribution(edges):
  return pd.DiscretePhaseType(_START, edges).log_prob(_VALUE)


_FUNCTIONS = {
  "rates": (pm.EdgeRates, _rate_log_prob),
  "rates_of_distribution": (pm.EdgeRates, _rate_log_prob_of_distribution),
  "probs": (pm.EdgeProbs, _prob_log_prob),
  "probs_of_distribution": (pm.EdgeProbs, _prob_log_prob_of_distribution),
}


class GradientsOfEdgesTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    self.parameters = np.asarray([0.75, 0.5])
    self.direction = np.asarray([0.25, -1.0])

  def expected(self, kind, f):
    """Returns value, gradient, derivative and Hessian-vector product."""
    sources, targets = onp.asarray([0, 1]), onp.asarray([1, 2])

    def of_parameters(parameters):
      return f(kind(sources, targets, parameters))

    value, gradient = pm.value_and_gradient(of_parameters, self.parameters)
    along = (self.parameters,), (self.direction,)
    _, derivative = pm.jvp(of_parameters, *along)
    return (
      value,
      gradient,
      derivative,
      pm.hessian_vector_product(of_parameters, *along),
    )

  def assert_gradient(self, found, kind, expected):
    """Asserts that a gradient of edges has an array of parameters alone."""
    self.assertIsInstance(found, kind)
    self.assertIsNone(found.sources)
    self.assertIsNone(found.targets)
    self.assert_close(found.parameters, expected)
    self.assertIsNone(found.coefficients)
    self.assertIsNone(found.constants)

  def assert_gradient_of_distribution(self, found, edges, expected):
    """Asserts that the ends of a distribution's edges are constants.

    Where they belong to the structure, as in JAX, the gradient has them too.
    """
    if found.sources is not None:
      self.assertEqual(found.sources, edges.sources)
      self.assertEqual(found.targets, edges.targets)
      found = found._replace(sources=None, targets=None)
    self.assert_gradient(found, type(edges), expected)

  @parameterized.named_parameters(
    (f"{name}_{ends}", name, ends) for name in _FUNCTIONS for ends in _ENDS
  )
  def test_ends(self, name, ends):
    kind, f = _FUNCTIONS[name]
    make = _ENDS[ends]
    edges = kind(make([0, 1]), make([1, 2]), self.parameters)
    value, gradient, derivative, product = self.expected(kind, f)
    found, found_gradient = pm.value_and_gradient(f, edges)
    self.assert_close(found, value)
    self.assert_gradient(found_gradient, kind, gradient)
    found, pullback = pm.vjp(f, edges)
    self.assert_close(found, value)
    self.assert_gradient(pullback(np.ones_like(found))[0], kind, gradient)
    for own in (None, make([0, 1]), [5], 0.5):
      along = (edges,), (kind(own, own, self.direction),)
      found, found_derivative = pm.jvp(f, *along)
      self.assert_close(found, value)
      self.assert_close(found_derivative, derivative)
    found_product = pm.hessian_vector_product(f, *along)
    self.assert_gradient(found_product, kind, product)

  @parameterized.parameters(*_FUNCTIONS)
  def test_parameters_of_distributions(self, name):
    kind, f = _FUNCTIONS[name]
    matrix, make = {
      pm.EdgeRates: ("subgenerator", pd.PhaseType),
      pm.EdgeProbs: ("subtransition", pd.DiscretePhaseType),
    }[kind]
    dist = make(_START, kind([0, 1], [1, 2], self.parameters))
    _, gradient, derivative, product = self.expected(kind, f)

    def log_prob(own):
      return dist.copy(**own).log_prob(_VALUE)

    own = {matrix: dist.parameters[matrix]}
    _, slopes = pm.value_and_gradient(log_prob, own)
    self.assert_gradient_of_distribution(slopes[matrix], own[matrix], gradient)
    for ends in (own[matrix].sources, None, [0, 1]):
      along = (own,), ({matrix: kind(ends, ends, self.direction)},)
      self.assert_close(pm.jvp(log_prob, *along)[1], derivative)
      found = pm.hessian_vector_product(log_prob, *along)
      self.assert_gradient_of_distribution(found[matrix], own[matrix], product)

  def test_nested_structures(self):
    kind, f = _FUNCTIONS["rates"]
    edges = kind([0, 1], (1, 2), self.parameters)
    _, gradient, _, _ = self.expected(kind, f)

    def total(by_name, pair):
      return f(by_name["edges"]) + 2.0 * f(pair[1][0]) * pair[0]

    by_name = collections.OrderedDict(edges=edges)
    _, (named, pair) = pm.value_and_gradient(total, by_name, (1, [edges]))
    self.assertIsInstance(named, dict)
    self.assert_gradient(named["edges"], kind, gradient)
    self.assert_close(pair[0], 2.0 * f(edges))
    self.assertIsInstance(pair[1], list)
    self.assert_gradient(pair[1][0], kind, 2.0 * gradient)
    # The arguments are unchanged.
    self.assertEqual(by_name["edges"].sources, [0, 1])
    self.assertEqual(edges.targets, (1, 2))

  def test_edges_as_results(self):
    def edges_of(parameters):
      return pm.EdgeRates([0, 1], [1, 2], 3.0 * parameters)

    (primal, along) = (self.parameters, self.direction)
    value, derivative = pm.jvp(edges_of, (primal,), (along,))
    self.assert_close(value.sources, [0, 1])
    self.assert_close(value.parameters, 3.0 * self.parameters)
    self.assert_close(derivative.parameters, 3.0 * along)
    value, pullback = pm.vjp(edges_of, primal)
    for ends in (None, [0, 1], value.sources):
      (found,) = pullback(pm.EdgeRates(ends, ends, along))
      self.assert_close(found, 3.0 * along)

  @parameterized.parameters(([[0, 1]],), ([],), ([0, 2**40],))
  def test_wrong_ends(self, sources):
    for f in (_rate_log_prob, _rate_log_prob_of_distribution):
      edges = pm.EdgeRates(sources, [1, 2], self.parameters)
      with self.assertRaises((TypeError, ValueError)) as expected:
        f(edges)
      with self.assertRaises(type(expected.exception)) as found:
        pm.value_and_gradient(f, edges)
      self.assertEqual(str(found.exception), str(expected.exception))


if __name__ == "__main__":
  absltest.main()
