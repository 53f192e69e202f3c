"""Canonical form 1, of acyclic chains and of chains with two phases."""

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from tests.helpers import chains
from tests.helpers import test_case

MODE = "numpy"

_SIZES = (1, 2, 3, 5, 8)
_GAPS = (0.0, 2.0**-52, 2.0**-40, 2.0**-20)
if MODE == "jax":
  # The form is computed on the host.
  _SIZES, _GAPS = (5,), (2.0**-40,)
_TIMES = onp.asarray([1e-12, 1e-3, 0.3, 2.0, 15.0, 100.0])


def _exact_logs(initial, between, exits, times):
  """Computes log density and log survival function, by a matrix exponential."""
  with mpmath.workdps(80):
    alpha = mpmath.matrix([mpmath.mpf(float(x)) for x in initial]).T
    out = mpmath.matrix([mpmath.mpf(float(x)) for x in exits])
    matrix = mpmath.matrix(between.tolist())
    p = len(exits)
    for i in range(p):
      matrix[i, i] = 0
      row = mpmath.fsum(matrix[i, j] for j in range(p))
      matrix[i, i] = -row - out[i]
    found = []
    for t in times:
      state = alpha * mpmath.expm(matrix * mpmath.mpf(float(t)))
      survival = mpmath.fsum(state)
      found.append([(state * out)[0], survival])
    return onp.asarray([[float(mpmath.log(x)) for x in row] for row in found]).T


def _acyclic(seed, p):
  """Builds an acyclic chain with unsorted phases and an atom."""
  state = onp.random.RandomState(seed)
  between = onp.triu(state.gamma(0.5, size=(p, p)), 1)
  between = between * (state.uniform(size=(p, p)) < 0.7)
  exits = state.gamma(1.0, size=p) * (state.uniform(size=p) < 0.5)
  exits[-1] = 1.5
  exits = onp.where(onp.sum(between, axis=1) + exits > 0, exits, 0.25)
  order = state.permutation(p)
  initial = 0.875 * state.dirichlet(onp.ones(p))
  return initial[order], between[onp.ix_(order, order)], exits[order]


class CanonicalFormTest(test_case.TestCase):
  def _check(self, initial, between, exits, rtol=1e-12):
    dist = pd.PhaseType(initial, between, exits)
    form = pd.AcyclicPhaseType.from_phase_type(dist, validate_args=True)
    masses, rates = self.host(form.initial_probs), self.host(form.rates)
    self.assertEqual(rates.tolist(), sorted(rates))
    self.assertTrue(onp.all(masses >= 0))
    log_prob, log_survival = _exact_logs(initial, between, exits, _TIMES)
    self.assert_close(form.log_prob(_TIMES), log_prob, rtol, 1e-13)
    found = form.log_survival_function(_TIMES)
    self.assert_close(found, log_survival, rtol, 1e-13)
    self.assert_close(form.cdf(0.0), self.host(dist.cdf(0.0)), 1e-13)
    return form

  @parameterized.parameters(*((p,) for p in _SIZES))
  def test_acyclic_chains(self, p):
    self._check(*_acyclic(p, p))

  @parameterized.parameters(*((gap,) for gap in _GAPS))
  def test_equal_and_near_rates_do_no_harm(self, gap):
    between = onp.asarray(
      [[0.0, 0.25, 0.25, 0.0], [0, 0, 0, 0.5], [0, 0, 0, 1.0], [0, 0, 0, 0]]
    )
    exits = onp.asarray([0.5 + gap, 0.5 - gap, 2.0**-60, 1.0])
    self._check(onp.full(4, 0.25), between, exits)

  def test_rates_of_many_orders(self):
    between = onp.asarray([[0.0, 1e-8, 1e8], [0, 0, 1e-3], [0, 0, 0]])
    self._check(
      onp.asarray([0.5, 0.5, 0.0]), between, onp.asarray([0, 1e3, 1e-2])
    )

  @parameterized.parameters(
    ((1.0, 2.0), (0.5, 0.25)),
    ((1.0, 1.0), (0.5, 0.5)),  # The form has one phase less than the chain.
    ((1e-9, 1e-9), (1.0, 1.0)),
    ((1e-9, 3.0), (1.0, 1.0 + 2.0**-40)),
    ((1.0, 2.0), (0.0, 0.25)),
    ((1e6, 1e6), (1e-6, 0.0)),
    ((2.0, 0.0), (0.5, 0.25)),
  )
  def test_two_phases(self, off, exits):
    between = onp.asarray([[0.0, off[0]], [off[1], 0.0]])
    initial = onp.asarray([0.25, 0.5])
    form = self._check(initial, between, onp.asarray(exits))
    self.assertEqual(form.num_phases, 2)

  @test_case.of_bad_values
  def test_batches_and_families(self):
    rates = onp.asarray([[3.0, 1.0], [1.0, 3.0]])
    source = pd.Hyperexponential([0.25, 0.75], rates)
    form = pd.AcyclicPhaseType.from_phase_type(source, name="form")
    self.assertEqual((form.batch_shape, form.name), ((2,), "form"))
    self.assertIsNone(form.parameters["prob_zero"])
    self.assert_close(form.rates, [[1.0, 3.0]] * 2)
    for t in (1e-3, 1.0, 20.0):
      self.assert_close(form.log_prob(t), self.host(source.log_prob(t)), 1e-13)
    float32 = pd.Erlang(3, onp.float32(2.0))
    self.assertEqual(
      pd.AcyclicPhaseType.from_phase_type(float32).dtype, "float32"
    )

  def test_graphs(self):
    def transitions(n):
      yield (n - 1 if n > 2 else pg.ABSORBED), {"coal": n * (n - 1) / 2}

    graph = pg.Graph.from_transitions(transitions, 5, params=("coal",))
    source = pd.PhaseType.from_graph(graph, {"coal": 2.0})
    form = pd.AcyclicPhaseType.from_phase_type(source)
    self.assert_close(form.rates, [2.0, 6.0, 12.0, 20.0])
    self.assert_close(form.initial_probs, [1.0, 0.0, 0.0, 0.0])

  @test_case.of_bad_values
  def test_refusals(self):
    cyclic = chains.SMALL["cyclic3"]
    matrix, exits = cyclic.dense()
    from_phase_type = pd.AcyclicPhaseType.from_phase_type
    with self.assertRaisesRegex(ValueError, "a cycle and 3 phases"):
      from_phase_type(pd.PhaseType(cyclic.initial_probs, matrix, exits))
    with self.assertRaisesRegex(ValueError, "must be > 0 and finite"):
      from_phase_type(pd.PhaseType([0.5, 0.5], [[-1.0, 1.0], [0.0, 0.0]]))
    with self.assertRaisesRegex(ValueError, "break a rule"):
      from_phase_type(pd.PhaseType([0.5, 0.75], -onp.eye(2)))
    with self.assertRaisesRegex(TypeError, "continuous time"):
      from_phase_type(pd.NegativeBinomialTrials(2, 0.5))
    with self.assertRaisesRegex(TypeError, "distribution is ndarray"):
      from_phase_type(onp.eye(2))


if __name__ == "__main__":
  absltest.main()
