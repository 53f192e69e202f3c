"""Moments and checks of edges that NumPy passes on as they are."""

import warnings

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np

from phasic.substrates.numpy import graphs
from phasic.substrates.numpy import math as pm
from phasic.substrates.numpy.internal import kernel_ops

_STATISTICS = ("mean", "variance", "stddev", "second_moment")


def _model(seed, phases, num_params, discrete=False, constants=True):
  """Returns initial masses and edges, from each phase to all later ones."""
  rng = np.random.default_rng(seed)
  sources, targets = np.triu_indices(phases + 1, 1)
  kept = sources < phases
  sources = sources[kept].astype(np.int32)
  targets = targets[kept].astype(np.int32)
  m = len(sources)
  coefficients = rng.uniform(0.1, 1.0, (m, num_params))
  added = rng.uniform(0.0, 0.5, m)
  if discrete:
    coefficients /= 3 * phases * num_params
    added /= phases
  kind = pm.EdgeProbs if discrete else pm.EdgeRates
  edges = kind(
    sources,
    targets,
    rng.uniform(0.5, 2.0, num_params),
    coefficients,
    added if constants else None,
  )
  return rng.dirichlet(np.ones(phases)), edges


def _is_plain(initial, edges, prob_zero=None, discrete=False):
  return kernel_ops.edges_meet_constraints(initial, edges, prob_zero, discrete)


def _converted(edges):
  """Returns the same edges as lists, which are converted first."""
  return type(edges)(*(None if x is None else x.tolist() for x in edges))


class MomentsTest(parameterized.TestCase):
  @parameterized.product(
    num_params=[1, 2, 5],
    discrete=[False, True],
    constants=[False, True],
    name=_STATISTICS,
  )
  def test_same_bits_as_after_conversion(
    self, num_params, discrete, constants, name
  ):
    function = getattr(
      pm.discrete_phase_type if discrete else pm.phase_type, name
    )
    for seed in range(5):
      initial, edges = _model(seed, 3 + 4 * seed, num_params, discrete)
      self.assertTrue(_is_plain(initial, edges, discrete=discrete))
      found = function(initial, edges)
      self.assertIsInstance(found, np.ndarray)
      self.assertEqual(found.shape, ())
      self.assertEqual(found, function(initial, _converted(edges)))
      # A batch of one model is converted, too.
      self.assertEqual(found, function(initial[None], edges)[0])

  def test_rates_without_coefficients(self):
    initial, edges = _model(1, 6, 1)
    rates = edges.coefficients[:, 0] * edges.parameters + edges.constants
    own = pm.EdgeRates(edges.sources, edges.targets, rates)
    self.assertTrue(_is_plain(initial, own))
    for name in _STATISTICS:
      function = getattr(pm.phase_type, name)
      self.assertEqual(function(initial, own), function(initial, edges))

  def test_mass_at_zero(self):
    initial, edges = _model(2, 4, 1)
    for atom in (0.25, np.float64(0.25), np.asarray(0.25)):
      self.assertTrue(_is_plain(0.75 * initial, edges, atom))
      found = pm.phase_type.mean(0.75 * initial, edges, None, atom)
      self.assertAlmostEqual(
        float(found), 0.75 * float(pm.phase_type.mean(initial, edges)), 14
      )
    self.assertFalse(_is_plain(0.75 * initial, edges, 0.5))
    self.assertFalse(_is_plain(0.75 * initial, edges, -0.25))

  def test_loops_of_steps(self):
    # Each phase is kept with probability 1/2, the first one left for the second
    # with probability 1/4.
    edges = pm.EdgeProbs(
      np.array([0, 0, 0, 1, 1], np.int32),
      np.array([0, 1, 2, 1, 2], np.int32),
      np.array([0.5, 0.25, 0.25, 0.5, 0.5]),
    )
    initial = np.array([1.0, 0.0])
    found = pm.discrete_phase_type.mean(initial, edges)
    # 2 steps in the first phase, and half of 2 in the second one.
    self.assertAlmostEqual(float(found), 3.0, 14)

  def test_traps(self):
    edges = pm.EdgeRates(
      np.array([0, 0], np.int32), np.array([1, 2], np.int32), np.ones(2)
    )
    found = pm.phase_type.mean(np.array([1.0, 0.0]), edges)
    self.assertEqual(found, np.inf)


class WrongTest(parameterized.TestCase):
  """Nothing that is wrong or needs conversion counts as valid."""

  def setUp(self):
    super().setUp()
    self.initial, self.edges = _model(3, 4, 2)

  def test_values(self):
    initial, edges = self.initial, self.edges
    self.assertTrue(_is_plain(initial, edges))
    for wrong in (-1.0, np.nan, np.inf):
      parameters = np.array([1.0, wrong])
      changed = edges._replace(parameters=parameters, constants=None)
      self.assertFalse(_is_plain(initial, changed))
      constants = edges.constants.copy()
      constants[3] = 10 * wrong
      changed = edges._replace(constants=constants)
      self.assertFalse(_is_plain(initial, changed))
      masses = initial.copy()
      masses[1] = wrong
      self.assertFalse(_is_plain(masses, edges))
    self.assertFalse(_is_plain(0.9 * initial, edges))

  def test_weights_near_zero_are_not_decided(self):
    # Zero, or less or more than that, as the order of the sum has it.
    edges = pm.EdgeRates(
      np.array([0], np.int32),
      np.array([1], np.int32),
      np.array([0.1, 0.2]),
      np.array([[1.0, 1.0]]),
      np.array([-0.3]),
    )
    self.assertFalse(_is_plain(np.ones(1), edges))

  def test_row_sums_of_steps(self):
    initial, edges = _model(3, 4, 2, discrete=True)
    self.assertTrue(_is_plain(initial, edges, discrete=True))
    more = edges._replace(parameters=20 * edges.parameters)
    self.assertFalse(_is_plain(initial, more, discrete=True))

  def test_row_sums_that_depend_on_the_order_are_not_decided(self):
    d = 400
    rng = np.random.default_rng(0)
    row = rng.uniform(0.0, 1.0, (1, d))
    edges = pm.EdgeProbs(
      np.zeros(1, np.int32), np.ones(1, np.int32), np.ones(d), row / row.sum()
    )
    self.assertFalse(_is_plain(np.ones(1), edges, discrete=True))
    half = edges._replace(parameters=np.full(d, 0.5))
    self.assertTrue(_is_plain(np.ones(1), half, discrete=True))

  def test_constants_without_coefficients(self):
    edges = pm.EdgeRates(
      np.zeros(1, np.int32),
      np.ones(1, np.int32),
      np.ones(1),
      constants=np.full(1, -3.0),
    )
    self.assertFalse(_is_plain(np.ones(1), edges))
    with self.assertWarnsRegex(RuntimeWarning, "weights of edges must be >= 0"):
      pm.phase_type.mean(np.ones(1), edges)
    more = edges._replace(constants=np.full(1, 3.0))
    self.assertTrue(_is_plain(np.ones(1), more))
    self.assertEqual(pm.phase_type.mean(np.ones(1), more), 0.25)

  def test_moments_out_of_range_do_not_warn(self):
    edges = pm.EdgeRates(
      np.zeros(1, np.int32), np.ones(1, np.int32), np.full(1, 1e-200)
    )
    with np.errstate(all="raise"):
      found = pm.phase_type.second_moment(np.ones(1), edges)
    self.assertEqual(found, np.inf)

  def test_what_needs_conversion(self):
    initial, edges = self.initial, self.edges
    other = np.asfortranarray(edges.coefficients)
    swapped = edges.parameters.astype(">f8")
    wide = edges.sources.astype(np.int64)
    for changed in (
      edges._replace(coefficients=other),
      edges._replace(coefficients=edges.coefficients.astype(np.float32)),
      edges._replace(parameters=swapped),
      edges._replace(parameters=edges.parameters[None]),
      edges._replace(parameters=np.ma.array(edges.parameters)),
      edges._replace(constants=np.repeat(edges.constants, 2)[::2]),
      edges._replace(sources=wide),
      edges._replace(targets=list(edges.targets)),
    ):
      self.assertFalse(_is_plain(initial, changed))
    self.assertFalse(_is_plain(initial.astype(np.float32), edges))
    self.assertFalse(_is_plain(list(initial), edges))
    self.assertFalse(_is_plain(initial, edges, "0.0"))
    plain = pm.phase_type.mean(initial, edges)
    for changed in (
      edges._replace(coefficients=other),
      edges._replace(parameters=swapped),
      edges._replace(constants=np.repeat(edges.constants, 2)[::2]),
      edges._replace(sources=wide),
    ):
      self.assertEqual(pm.phase_type.mean(initial, changed), plain)

  @parameterized.parameters(
    ({"coefficients": np.ones((14, 3))}, "parameters have shape"),
    ({"coefficients": np.ones((2, 2))}, "coefficients have shape"),
    ({"coefficients": np.ones((14, 0))}, "coefficients have shape"),
    ({"constants": np.ones(3)}, "constants have shape"),
    ({"constants": np.ones(())}, "constants have shape"),
    ({"targets": np.ones(3, np.int32)}, "sources have shape"),
    ({"parameters": np.ones(())}, "parameters have shape"),
    ({"parameters": np.ones(0)}, "parameters have shape"),
    ({"targets": np.full(10, 5, np.int32)}, r"targets\[0\] = 5"),
    ({"sources": np.full(10, -1, np.int32)}, r"sources\[0\] = -1"),
    ({"sources": np.full(10, 4, np.int32)}, r"sources\[0\] = 4"),
  )
  def test_messages(self, changes, message):
    m = len(self.edges.sources)
    changes = {
      name: np.resize(x, (m, *x.shape[1:]))
      if x.shape[:1] in ((10,), (14,))
      else x
      for name, x in changes.items()
    }
    changed = self.edges._replace(**changes)
    self.assertFalse(_is_plain(self.initial, changed))
    for name in ("mean", "variance"):
      with self.assertRaisesRegex(ValueError, message):
        getattr(pm.phase_type, name)(self.initial, changed)

  def test_the_other_kind_of_time(self):
    with self.assertRaisesRegex(TypeError, "EdgeProbs"):
      pm.discrete_phase_type.mean(self.initial, self.edges)

  def test_warnings(self):
    changed = self.edges._replace(parameters=np.array([-9.0, 1.0]))
    with self.assertWarnsRegex(RuntimeWarning, "weights of edges must be >= 0"):
      found = pm.phase_type.mean(self.initial, changed)
    self.assertTrue(np.isnan(found))

  def test_overflow_does_not_warn(self):
    edges = self.edges._replace(parameters=np.array([1e308, 1e308]))
    edges = edges._replace(coefficients=10 * edges.coefficients)
    with warnings.catch_warnings(record=True) as caught:
      warnings.simplefilter("always")
      self.assertTrue(np.isnan(pm.phase_type.mean(self.initial, edges)))
    self.assertLen(caught, 1)
    self.assertIn("weights of edges must be >= 0", str(caught[0].message))

  def test_what_is_large_is_not_looked_at(self):
    m = 60_000
    sources = np.zeros(m, np.int32)
    edges = pm.EdgeRates(sources, sources + 1, np.ones(m))
    self.assertFalse(_is_plain(np.ones(1), edges))
    self.assertAlmostEqual(m * float(pm.phase_type.mean(np.ones(1), edges)), 1)


class _Listed(dict):
  def keys(self):
    return list(super().keys())


class ParametersTest(absltest.TestCase):
  def test_one_parameter_is_copied(self):
    edges = [(0, graphs.ABSORBED, {"a": 1.0})]
    graph = graphs.Graph.from_edges(edges, 0, params=("a",))
    given = np.array(2.0)
    found = graph.params_array({"a": given})
    self.assertFalse(np.shares_memory(found, given))
    self.assertTrue(found.flags.writeable)
    self.assertEqual(graph.params_array(_Listed(a=2.0)), found)


if __name__ == "__main__":
  absltest.main()
