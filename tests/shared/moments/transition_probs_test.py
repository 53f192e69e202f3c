"""Tests transition probabilities, expectations of phases and exp(S t) v.

The truth is the exponential of S t and its Frechet derivatives in doubles, in
well conditioned cases, and Poisson probabilities of long chains.
tests/accuracy/transition_probs_test.py has hard cases.
"""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp
import scipy.linalg
import scipy.sparse
import scipy.stats

from phasic import math as pm
from tests.helpers import test_case

MODE = "numpy"
if MODE == "jax":
  import jax
elif MODE == "tf":
  import tensorflow as tf

_P = 3
_TIMES = onp.asarray([0.0, 0.3, 2.0])
_WEIGHTS = onp.asarray([0.5, 0.0, 2.0])
_NONE = onp.zeros(0, "int32")
_START = onp.asarray([0.25, 0.5, 0.125])


def _rates(seed, p, *batch):
  """Returns random rates between phases and exits, with some zeros."""
  rng = onp.random.default_rng(seed)
  rates = rng.exponential(size=(*batch, p, p)) * (1 - onp.eye(p))
  return rates, rng.exponential(size=(*batch, p)) * (onp.arange(p) != 1)


def _matrix(rates, exits):
  leaving = onp.sum(rates, axis=-1) + exits
  return rates - leaving[..., None] * onp.eye(exits.shape[-1])


def _edges(rates, exits):
  """Returns edges between all phases, and to absorption."""
  p = exits.shape[-1]
  full = onp.concatenate([rates, exits[..., None]], axis=-1)
  sources, targets = onp.nonzero(1 - onp.eye(p, p + 1))
  return pm.EdgeRates(
    sources.astype("int32"),
    targets.astype("int32"),
    np.asarray(full[..., sources, targets]),
  )


def _expm(rates, exits, times):
  return scipy.linalg.expm(_matrix(rates, exits) * times[..., None, None])


class ExpectationTest(test_case.TestCase):
  """Tests `phase_expectation` and its logarithm."""

  @parameterized.parameters(
    ((4,), (), (), ()),
    ((2, 4), (2, 1), (2, 1), ()),
    ((4,), (), (), (4,)),
    ((5, 1), (), (3,), (3,)),
    ((), (2, 1), (3,), ()),
    ((600,), (), (), ()),
  )
  def test_batches(self, times_shape, weights_shape, starts_shape, batch):
    rates, exits = _rates(1, _P, *batch)
    rng = onp.random.default_rng(2)
    times = rng.exponential(size=times_shape)
    weights = rng.exponential(size=(*weights_shape, _P))
    starts = rng.dirichlet(onp.ones(_P), size=starts_shape)
    truth = onp.einsum(
      "...i,...ij,...j->...", starts, _expm(rates, exits, times), weights
    )
    edges = _edges(rates, exits)
    f = pm.phase_type.phase_expectation
    self.assert_close(f(times, weights, starts, edges), truth)
    matrix = _matrix(rates, exits)
    self.assert_close(f(times, weights, starts, matrix, exits), truth)
    logs = pm.phase_type.log_phase_expectation(times, weights, starts, edges)
    self.assert_close(logs, onp.log(truth), 1e-12, 1e-13)

  def test_steps(self):
    steps = onp.asarray([[0.5, 0.25], [0.0, 0.75]])
    counts = onp.asarray([0.0, 1.0, 2.0, 9.0])
    start, weights = onp.asarray([0.5, 0.5]), onp.asarray([1.0, 3.0])
    powers = [onp.linalg.matrix_power(steps, int(k)) for k in counts]
    truth = [start @ x @ weights for x in powers]
    md = pm.discrete_phase_type
    arguments = (counts, weights, start, steps)
    self.assert_close(md.phase_expectation(*arguments), truth)
    self.assert_close(md.log_phase_expectation(*arguments), onp.log(truth))
    self.assert_close(md.transition_probs(counts, steps), powers)
    with onp.errstate(divide="ignore"):
      logs = onp.log(powers)
    found = md.log_transition_probs(counts, steps)
    self.assert_close(found, logs, 1e-12, 1e-13)

  def test_derivatives_in_every_argument(self):
    rates, exits = _rates(3, _P)
    edges = _edges(rates, exits)
    expm = _expm(rates, exits, _TIMES)

    def total(t, w, alpha, x):
      model = edges._replace(parameters=x)
      return np.sum(pm.phase_type.phase_expectation(t, w, alpha, model))

    arguments = (_TIMES, _WEIGHTS, _START, edges.parameters)
    arguments = [np.asarray(x) for x in arguments]
    _, pullback = pm.vjp(total, *arguments)
    found = pullback(np.asarray(1.0, "float64"))
    matrix = _matrix(rates, exits)
    self.assert_close(found[0], expm @ _WEIGHTS @ matrix.T @ _START, 1e-12)
    self.assert_close(found[1], onp.sum(_START @ expm, axis=0), 1e-12)
    self.assert_close(found[2], onp.sum(expm @ _WEIGHTS, axis=0), 1e-12)
    ends = zip(*map(self.host, edges[:2]), strict=True)
    for k, (i, j) in enumerate(ends):
      change = onp.zeros((_P, _P + 1))
      change[i, i] -= 1.0
      change[i, j] += 1.0
      slope = sum(
        _START
        @ scipy.linalg.expm_frechet(
          matrix * t, change[:, :_P] * t, compute_expm=False
        )
        @ _WEIGHTS
        for t in _TIMES
      )
      self.assert_close(found[3][k], slope, 1e-11, 1e-13)

  def test_tiny_probabilities(self):
    n = 40
    edges = pm.EdgeRates(onp.arange(n), onp.arange(1, n + 1), onp.ones(n))
    start, end = onp.eye(n)[0], onp.eye(n)[-1]
    times = onp.asarray([1e-10, 1.0, 1e4])
    f = pm.phase_type.log_phase_expectation
    truth = scipy.stats.poisson.logpmf(n - 1, times)
    self.assert_close(f(times, end, start, edges), truth, 1e-13)
    self.assert_close(f(times, start, end, edges), onp.full(3, -onp.inf))

  def test_float32(self):
    rates, exits = (x.astype("float32") for x in _rates(4, _P))
    matrix = rates - onp.diag(onp.sum(rates, axis=1) + exits)
    arguments = (x.astype("float32") for x in (_TIMES, _WEIGHTS, _START))
    found = pm.phase_type.phase_expectation(*arguments, matrix, exits)
    self.assertEqual(self.host(found).dtype, onp.float32)
    expm = _expm(rates, exits, _TIMES.astype("float32"))
    self.assert_close(found, _START @ expm @ _WEIGHTS, 1e-5)

  def test_bad_arguments(self):
    f = pm.phase_type.phase_expectation
    edges = _edges(*_rates(5, _P))
    for weights in ([1.0, 2.0], 1.0):
      with self.assertRaisesRegex(ValueError, "phase_weights has shape"):
        f(1.0, weights, _START, edges)
    found, caught = self.caught(lambda: f(1.0, -_WEIGHTS, _START, edges))
    self.assertTrue(onp.isnan(self.host(found)))
    self.assertIn("phase_weights[0]", str(caught[0].message))
    found, caught = self.caught(lambda: f(-1.0, _WEIGHTS, _START, edges))
    self.assertTrue(onp.isnan(self.host(found)))
    self.assertIn("must be finite and >= 0", str(caught[0].message))


class LateSlopesTest(test_case.TestCase):
  """Tests forward derivatives where a phase leads to no weight."""

  def test_time_in_a_phase(self):
    """The logarithm is -r t, late and early."""
    for time in (1.0, 700.0, 3000.0):
      for rate in (1.0, 0.9, 0.5):

        def log_stays(r, time=time):
          edges = pm.EdgeRates([0], [1], r)
          return pm.phase_type.log_phase_expectation(
            np.asarray(time),
            np.asarray([1.0, 0.0]),
            np.asarray([1.0, 0.0]),
            edges,
          )

        at, along = np.asarray([rate]), np.asarray([1.0])
        _, slope = pm.jvp(log_stays, (at,), (along,))
        self.assert_close(slope, -time, 1e-12)


class TransitionTest(test_case.TestCase):
  """Tests probabilities between phases, and to absorption."""

  @parameterized.parameters((1, ()), (3, (2,)), (9, (2,)), (12, ()))
  def test_matrices(self, p, batch):
    rates, exits = _rates(p, p, *batch)
    for times in (_TIMES[:, None], onp.linspace(0.0, 2.0, 30)[:, None]):
      times = times if batch else times[:, 0]
      expm = _expm(rates, exits, times)
      matrix, edges = _matrix(rates, exits), _edges(rates, exits)
      pt = pm.phase_type
      self.assert_close(pt.transition_probs(times, edges), expm, 1e-11, 1e-14)
      found = pt.transition_probs(times, matrix, exits)
      self.assert_close(found, expm, 1e-11, 1e-14)
      logs = self.host(pt.log_transition_probs(times, edges))
      self.assert_close(onp.exp(logs), expm, 1e-11, 1e-14)
      absorbed = pt.absorption_probs(times, edges)
      truth = 1.0 - onp.sum(expm, axis=-1)
      self.assert_close(absorbed, truth, 1e-11, 1e-14)
      logs = self.host(pt.log_absorption_probs(times, matrix, exits))
      self.assert_close(onp.exp(logs), truth, 1e-11, 1e-14)

  @parameterized.parameters(3, 9)
  def test_causes(self, p):
    rates, exits = _rates(p, p)
    by_cause = exits[:, None] * onp.asarray([0.25, 0.0, 0.75])
    larger = onp.zeros((p + 3, p + 3))
    larger[:p, :p], larger[:p, p:] = rates, by_cause
    truth = _expm(larger, onp.zeros(p + 3), _TIMES)[:, :p, p:]
    pt = pm.phase_type
    given = (_TIMES, _matrix(rates, exits), by_cause)
    found = pt.absorption_probs(*given, num_causes=3)
    self.assert_close(found, truth, 1e-11, 1e-14)
    sources, targets = onp.nonzero(larger)
    edges = pm.EdgeRates(sources, targets, larger[sources, targets])
    found = pt.absorption_probs(_TIMES, edges, num_causes=3)
    self.assert_close(found, truth, 1e-11, 1e-14)
    logs = pt.log_absorption_probs(_TIMES, edges, num_causes=3)
    self.assert_close(onp.exp(self.host(logs)), truth, 1e-11, 1e-14)
    with self.assertRaisesRegex(ValueError, r"\(\.\.\., p, causes\)"):
      pt.absorption_probs(_TIMES, given[1], exits, num_causes=3)
    with self.assertRaisesRegex(ValueError, "exit_rates is None"):
      pt.absorption_probs(_TIMES, given[1], num_causes=3)

  def test_closed_chains(self):
    # A chain without absorption: of edges, of a matrix, with its last phase
    # never left.
    pt = pm.phase_type
    x = (1 - onp.exp(-3.0)) / 3
    truth = [[1 - x, x], [2 * x, 1 - 2 * x]]
    edges = pm.EdgeRates([0, 1], [1, 0], [1.0, 2.0])
    matrix = onp.asarray([[-1.0, 1.0], [2.0, -2.0]])
    for model in (edges, matrix, scipy.sparse.csr_matrix(matrix)):
      found, caught = self.caught(lambda m=model: pt.transition_probs(1.0, m))
      self.assert_close(found, truth)
      self.assertEqual(caught, [])
      self.assert_close(pt.absorption_probs(1.0, model), [0.0, 0.0])
    edges = pm.EdgeRates([0], [1], [1.0])
    found = pt.transition_probs(1.0, edges, num_phases=2)
    e = onp.exp(-1.0)
    self.assert_close(found, [[e, 1 - e], [0.0, 1.0]])
    self.assert_close(pt.transition_probs(1.0, edges), [[e]])

  def test_bad_arguments(self):
    pt = pm.phase_type
    edges = pm.EdgeRates([0, 1], [1, 0], [1.0, -2.0])
    found, caught = self.caught(lambda: pt.transition_probs(1.0, edges))
    self.assertTrue(onp.all(onp.isnan(self.host(found))))
    self.assertIn("edge_values[1] = -2.0", str(caught[0].message))
    edges = pm.EdgeRates([0, 1], [1, 0], [1.0, 2.0])
    with self.assertRaisesRegex(ValueError, "at most 4096.*occupancy"):
      pt.transition_probs(1.0, edges, num_phases=5000)
    with self.assertRaisesRegex(ValueError, "num_phases is 3: it must be 2"):
      pt.transition_probs(1.0, onp.zeros((2, 2)), num_phases=3)
    with self.assertRaisesRegex(ValueError, "num_phases is None"):
      pt.transition_probs(1.0, pm.EdgeRates(_NONE, _NONE, onp.zeros(0)))


class VectorTest(test_case.TestCase):
  """Tests products with exp(S t)."""

  @parameterized.parameters((3, (2,)), (9, ()))
  def test_products(self, p, batch):
    rates, exits = _rates(p, p, *batch)
    v = onp.random.default_rng(p).normal(size=(*batch, p))
    for count in (2, 40):
      times = onp.linspace(0.0, 2.0, count)
      times = times[:, None] if batch else times
      expm = _expm(rates, exits, times)
      for transposed, axes in (
        (False, "ij,...j->...i"),
        (True, "ij,...i->...j"),
      ):
        truth = onp.einsum("..." + axes, expm, v)
        found = pm.phase_type.expm_multiply(
          v, times, _edges(rates, exits), transposed=transposed
        )
        self.assert_close(found, truth, 1e-11, 1e-13)
        found = pm.phase_type.expm_multiply(
          v, times, _matrix(rates, exits), exits, transposed
        )
        self.assert_close(found, truth, 1e-11, 1e-13)

  @parameterized.product(
    v=((0.0, 0.0, 0.0), (1.0, 0.0, -2.0), (0.0, 3.0, 0.0)),
    transposed=(False, True),
    count=(1, 20),
  )
  def test_derivatives_at_zero(self, v, transposed, count):
    rates, exits = _rates(6, _P)
    times = onp.linspace(0.5, 1.0, count)
    edges = _edges(rates, exits)

    def product(x):
      return pm.phase_type.expm_multiply(x, times, edges, transposed=transposed)

    expm = _expm(rates, exits, times)
    expm = onp.swapaxes(expm, 1, 2) if transposed else expm
    along = onp.asarray([0.5, -1.0, 2.0])
    value, slope = pm.jvp(product, (np.asarray(v),), (np.asarray(along),))
    self.assert_close(value, expm @ onp.asarray(v), 1e-12, 1e-14)
    self.assert_close(slope, expm @ along, 1e-12, 1e-14)
    _, pullback = pm.vjp(product, np.asarray(v))
    found = pullback(np.asarray(onp.ones((count, _P))))[0]
    self.assert_close(found, onp.sum(expm, axis=(0, 1)), 1e-12)

  def test_any_size(self):
    edges = pm.EdgeRates([0, 1], [1, 2], [1.0, 1.0])
    for size in (1e-300, 1.0, 1e300):
      found = pm.phase_type.expm_multiply([size, -size], 1.0, edges)
      e = onp.exp(-1.0)
      self.assert_close(found, [0.0, -e * size], 1e-14, 1e-16 * size)

  def test_many_phases(self):
    # Stages of one rate: numbers of stages that are passed are Poisson.
    self.require_kernel()
    p = 50_000
    edges = pm.EdgeRates(
      onp.arange(p, dtype="int32"),
      onp.arange(1, p + 1, dtype="int32"),
      np.asarray([2.0]),
      onp.ones((p, 1)),
    )
    v = onp.zeros(p)
    v[:2] = [1.0, -3.0]
    passed = scipy.stats.poisson.pmf(onp.arange(-1, p), 40.0)
    truth = passed[1:] - 3.0 * passed[:-1]
    size = passed[1:] + 3.0 * passed[:-1]
    f = pm.phase_type.expm_multiply
    found = self.host(f(v, 20.0, edges, transposed=True))
    large = size > 1e-250
    self.assertLess(onp.max(onp.abs(found - truth)[large] / size[large]), 1e-11)
    found = self.host(f(v[::-1], 20.0, edges))[::-1]
    self.assertLess(onp.max(onp.abs(found - truth)[large] / size[large]), 1e-11)


class CompiledTest(test_case.TestCase):
  """Tests compiled functions, and their compiled gradients."""

  def setUp(self):
    super().setUp()
    if MODE == "numpy":
      self.skipTest("NumPy does not compile")

  def test_compiled(self):
    rates, exits = _rates(7, _P)
    matrix = np.asarray(_matrix(rates, exits))
    expm = _expm(rates, exits, _TIMES)
    v = onp.asarray([1.0, -2.0, 0.5])

    def values(x):
      pt = pm.phase_type
      return (
        np.exp(pt.log_transition_probs(_TIMES, x)),
        pt.absorption_probs(_TIMES, x),
        pt.expm_multiply(v, _TIMES, x),
        pt.occupancy(_TIMES, _START, x),
      )

    found = _compiled(values)(matrix)
    truths = (expm, 1 - onp.sum(expm, axis=-1), expm @ v, _START @ expm)
    for x, truth in zip(found, truths, strict=True):
      self.assert_close(x, truth, 1e-12, 1e-14)

  def test_compiled_gradient(self):
    edges = _edges(*_rates(8, _P))

    def total(x):
      model = edges._replace(parameters=x)
      return np.sum(
        pm.phase_type.log_phase_expectation(_TIMES, _WEIGHTS, _START, model)
      )

    value, slope = pm.value_and_gradient(total, edges.parameters)
    found = _compiled(lambda x: pm.value_and_gradient(total, x))(
      edges.parameters
    )
    self.assert_close(found[0], value, 1e-14)
    self.assert_close(found[1], slope, 1e-13, 1e-15)


def _compiled(f):
  """Compiles a function of arrays."""
  if MODE == "jax":
    f = jax.jit(f)
  elif MODE == "tf":
    f = tf.function(f)
  return f


if __name__ == "__main__":
  absltest.main()
