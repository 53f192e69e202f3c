"""The portable path against ball arithmetic, in float64."""

from absl.testing import absltest
from absl.testing import parameterized
import hypothesis
from hypothesis import strategies
import numpy as np
import numpy as onp

from phasic.internal import static
from phasic.math.numeric import exact_sums
from phasic.math.portable import portable
from tests.helpers import test_case
from tests.oracle import models as oracle_models
from tests.oracle import phase_type_oracle as oracle

MODE = "numpy"
_KINDS = ("log_density", "log_survival", "log_cdf")


def _stiff():
  """Builds birth and death with rates from 1e-2 to 1e3."""
  rates = onp.round(onp.geomspace(1e-2, 1e3, 12) * 1024) / 1024
  off = onp.diag(rates[:-1], 1) + onp.diag(rates[:0:-1], -1)
  exits = onp.append(onp.zeros(11), 2.0**-6)
  diagonal = onp.diag(onp.sum(off, axis=1) + exits)
  return oracle.Operands(onp.eye(12)[0], off - diagonal, exits, None, 1.0)


def _dense():
  """Builds ten phases with all transitions."""
  state = onp.random.RandomState(5)
  off = onp.round(state.uniform(0.1, 1.0, (10, 10)) * 64) / 64
  off = off * (1 - onp.eye(10))
  exits = onp.round(state.uniform(0.1, 1.0, 10) * 64) / 64
  diagonal = onp.diag(onp.sum(off, axis=1) + exits)
  return oracle.Operands(onp.full(10, 0.1), off - diagonal, exits, 0.0, 1.0)


def _kingman(lineages=10):
  """Builds the number of lineages of the coalescent."""
  n = onp.arange(lineages, 1, -1)
  return oracle_models.hypoexponential(n * (n - 1) / 2)


# Every model with times into both tails.
_CASES = {
  "erlang": (oracle_models.erlang(), [1e-20, 1e-3, 1.0, 30.0, 1900.0]),
  "erlang_thirds": (oracle_models.erlang(10, 3.3), [1e-20, 1.0, 600.0]),
  "kingman": (_kingman(), [1e-5, 0.1, 2.0, 40.0, 400.0]),
  "near_equal": (oracle_models.near_equal(), [1e-10, 1.0, 50.0, 700.0]),
  "dense": (_dense(), [1e-6, 0.5, 5.0, 40.0]),
  "atom": (
    oracle_models.with_options(oracle_models.cyclic(), True, 0.25),
    [1e-6, 0.5, 5.0, 300.0],
  ),
  "derived": (
    oracle_models.with_options(oracle_models.birth_death(12), False),
    [1e-3, 1.0, 100.0],
  ),
  "rare_component": (
    oracle_models.hyperexponential(),
    [1e-6, 1.0, 200.0, 2000.0],
  ),
  "long_and_thin": (
    oracle_models.hypoexponential(onp.append(onp.full(40, 1e-6), 1e3)),
    [1e-10],
  ),
  "stiff": (_stiff(), [1e-3, 1.0, 60.0]),
}
# Other substrates share the code, so the hardest models suffice.
_ELSEWHERE = ("erlang", "long_and_thin")


def _evaluate(kind, model, times, dtype="float64"):
  absent = onp.zeros(0)
  exits = absent if model.exit_rates is None else model.exit_rates
  atom = absent if model.prob_zero is None else [model.prob_zero]
  operands = (model.initial_probs, model.subgenerator, exits, atom, times)
  arrays = [np.asarray(onp.asarray(x, dtype)) for x in operands]
  return portable.phase_type(kind, *arrays)


class AccuracyTest(test_case.TestCase):
  """Tests that errors of logarithms are within max(1e-12, 8 ulp)."""

  def assert_accurate(self, kind, model, times):
    values = self.host(_evaluate(kind, model, onp.asarray(times)))
    for t, value in zip(times, values, strict=True):
      truth, _ = oracle.directional(kind, model._replace(time=t))
      size = onp.abs(float(truth.mid()))
      bound = max(1e-12, 8 * float(onp.spacing(size)))
      self.assertLessEqual(oracle.error(value, truth), bound, (kind, t))

  @parameterized.parameters(*_CASES)
  def test_both_tails(self, name):
    kinds: tuple[str, ...] = _KINDS
    if MODE != "numpy":
      kinds = ("log_density",)
      if name not in _ELSEWHERE:
        self.skipTest("tested with NumPy, as the code is the same")
    for kind in kinds:
      self.assert_accurate(kind, *_CASES[name])

  def test_float32_operands(self):
    # Results are computed in float64, and rounded once.
    model = oracle_models.erlang()
    times = onp.asarray([1e-20, 1.0, 30.0, 1900.0], onp.float32)
    values = _evaluate("log_density", model, times, "float32")
    self.assertEqual(static.dtype_name(values), "float32")
    for t, value in zip(times, self.host(values), strict=True):
      truth, _ = oracle.directional("log_density", model._replace(time=t))
      self.assertLessEqual(oracle.error(value, truth), onp.spacing(abs(value)))

  @hypothesis.settings(max_examples=40, deadline=None, derandomize=True)
  @hypothesis.given(
    strategies.integers(1, 4),
    strategies.integers(0, 2**31 - 1),
    strategies.floats(-12.0, 2.0),
    strategies.sampled_from(_KINDS),
  )
  def test_random_models(self, p, number, log_time, kind):
    if MODE != "numpy":
      self.skipTest("tested with NumPy, as the code is the same")
    state = onp.random.RandomState(number)

    def rates(shape):
      # Zeros, and weights over six orders of magnitude.
      sizes = onp.exp2(onp.round(state.uniform(-10, 10, shape)))
      return sizes * (state.uniform(size=shape) < 0.6)

    off = rates((p, p)) * (1 - onp.eye(p))
    exits = rates(p)
    exits[-1] = max(exits[-1], 1.0)
    alpha = onp.floor(state.dirichlet(onp.ones(p)) * 64) / 64
    alpha[state.randint(p)] += 1 - onp.sum(alpha)
    diagonal = onp.diag(onp.sum(off, axis=1) + exits)
    model = oracle.Operands(alpha, off - diagonal, exits, 0.0, 1.0)
    # Without a path to an exit the density is zero: nothing to compare.
    reached = alpha @ onp.linalg.matrix_power(onp.eye(p) + (off > 0), p)
    hypothesis.assume(reached @ exits > 0)
    self.assert_accurate(kind, model, [10.0**log_time])


class TrapTest(test_case.TestCase):
  def test_chain_that_never_ends(self):
    # Two phases that change places, and no way out.
    rates = onp.asarray([[-1.0, 1.0], [0.5, -0.5]])
    arrays = onp.asarray([1.0, 0.0]), rates, onp.zeros(2), onp.zeros(0)
    operands = [np.asarray(x) for x in (*arrays, onp.asarray([0.5, 30.0]))]
    for kind, exact in (("density", 0.0), ("survival", 1.0)):
      found = portable.phase_type(kind, *operands)
      self.assert_close(found, onp.full(2, exact), 1e-14)


class ScaledTest(test_case.TestCase):
  def test_powers_of_two_beyond_the_range(self):
    x = onp.asarray([2.0**-1000, 2.0**1000, 3.0])
    n = onp.asarray([1500.0, -1990.0, 2.0])
    found = exact_sums.times_power(np.asarray(x), np.asarray(n))
    self.assert_close(found, [2.0**500, 2.0**-990, 12.0], 0.0)

  def test_products_beyond_the_range(self):
    x = np.asarray(onp.asarray([2.0**700, 2.0**-700, 0.0]))
    found, n = exact_sums.dot(x, x, x)
    self.assert_close(found, 2.0 ** (2100 - float(n)), 0.0)


if __name__ == "__main__":
  absltest.main()
