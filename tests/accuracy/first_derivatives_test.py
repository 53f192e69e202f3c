"""All first derivatives of the kernel against ball arithmetic and closed forms."""

from collections.abc import Callable, Sequence
import itertools

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp
from scipy import special

from tests.accuracy import cases
from tests.accuracy import derivative_checks
from tests.accuracy import kernel_calls
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle

_TOLERANCE = 1e-12
# Below the first of these sizes losses are ordinary underflow.
_SMALLEST, _LARGEST = mpmath.mpf(10) ** -277, mpmath.mpf(2) ** 1024

# The function from phase i on is that of `phases - i` phases.
_Function = Callable[[int, float], list[mpmath.mpf]]

# From 512 jumps on sums over jumps give way to a ladder of squares.
_RATES = (1e2, 1e3, 3e3, 1e4, 3e4, 1e5)


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class FirstDerivativesTest(derivative_checks.TestCase):
  @parameterized.product(
    model=tuple(cases.MODELS), options=tuple(cases.OPTIONS), point=(0, 1, 2, 3)
  )
  def test_log_density(self, model, options, point):
    t = cases.DERIVATIVE_TIMES[model][point]
    operands = cases.operands(model, options, t)
    self.check_gradient("log_density", operands, (), _TOLERANCE)
    self.check_directions("log_density", operands, _TOLERANCE)
    if model != "birth_death":
      self.check_gradient("density", operands, (), _TOLERANCE)

  @parameterized.product(
    base=("survival", "cdf"),
    model=("erlang", "cyclic", "near_equal"),
    options=tuple(cases.OPTIONS),
  )
  def test_other_kinds(self, base, model, options):
    for t in cases.DERIVATIVE_TIMES[model]:
      operands = cases.operands(model, options, t)
      for kind in (base, f"log_{base}"):
        self.check_gradient(kind, operands, (), _TOLERANCE)
        self.check_directions(kind, operands, _TOLERANCE, count=2)

  @parameterized.parameters(
    ("survival", "exits_given", 7800.0),
    ("survival", "exits_derived", 1e-20),
    ("cdf", "exits_given", 1e-20),
    ("cdf", "exits_derived", 30.0),
    ("density", "exits_and_atom_given", 1e-20),
    ("density", "exits_derived", 7800.0),
  )
  def test_other_kinds_of_a_long_chain(self, base, options, t):
    operands = cases.operands("birth_death", options, t)
    for kind in (base, f"log_{base}"):
      self.check_gradient(kind, operands, (), _TOLERANCE)

  @parameterized.parameters(*oracle.KINDS)
  def test_several_times_with_weights(self, kind):
    times = onp.array(cases.DERIVATIVE_TIMES["cyclic"][1:])
    weights = onp.array([0.5, -1.0, 2.0])
    operands = cases.operands("cyclic", "exits_given", times)
    arrays = kernel_calls.inputs(operands)
    code = kernel_calls.kind_code(kind)
    actual = kernel_calls.module().adjoint(code, 1, arrays + [weights])
    single = [
      kernel_calls.gradient(kind, operands._replace(time=t)) for t in times
    ]
    for k in range(4):
      parts = [w * g[k] for w, g in zip(weights, single)]
      sizes = sum(onp.abs(part) for part in parts)
      error = onp.abs(onp.ravel(actual[k]) - sum(parts))
      self.assertTrue(onp.all(error <= 1e-12 * sizes + 1e-300), (k, error))
    onp.testing.assert_allclose(
      actual[4], [w * g.time[0] for w, g in zip(weights, single)], rtol=1e-12
    )

  def test_given_exits_leave_the_diagonal_without_derivative(self):
    for t in cases.DERIVATIVE_TIMES["cyclic"]:
      operands = cases.operands("cyclic", "exits_given", t)
      gradient = kernel_calls.gradient("log_density", operands)
      diagonal = onp.diag(gradient.subgenerator.reshape(3, 3))
      onp.testing.assert_array_equal(diagonal, onp.zeros(3))

  @parameterized.parameters(1e-20, 1.0, 300.0)
  def test_a_rare_slow_component(self, t):
    operands = models.hyperexponential()._replace(time=t)
    self.check_gradient("log_density", operands, (), _TOLERANCE)

  @parameterized.parameters(0.05, 1.0, 2.5)
  def test_phases_from_which_the_way_out_is_long(self, t):
    # Their exits have large derivatives, jumps between them tiny ones.
    operands = cases.operands("birth_death", "exits_given", t)
    self.check_gradient("log_density", operands, (), _TOLERANCE)

  @parameterized.parameters(1e-2, 1.0, 40.0)
  def test_a_stiff_chain(self, t):
    rates = 2.0 ** onp.linspace(0, 16, 12).round()
    operands = models.hypoexponential(rates)._replace(time=t)
    self.check_gradient("log_density", operands, (), _TOLERANCE)


def _erlang(phases: int, rate: float, times: onp.ndarray) -> oracle.Operands:
  subgenerator = rate * (onp.eye(phases, k=1) - onp.eye(phases))
  return oracle.Operands(onp.eye(phases)[0], subgenerator, None, None, times)


def _gradient(kind, operands, weights):
  arrays = [*kernel_calls.inputs(operands), weights]
  code = kernel_calls.kind_code(kind)
  return kernel_calls.module().adjoint(code, 1, arrays)


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class LargeWeightsTest(parameterized.TestCase):
  """Cotangents of alpha that are in range only times a weight of 1e150."""

  def _check(self, operands, expected):
    bars = _gradient("density", operands, onp.array([1e150]))
    found = onp.ravel(bars[0])
    known = (expected > _SMALLEST) & (expected < _LARGEST)
    self.assertGreater(onp.sum(known), 1)
    for x, y in zip(found[known], expected[known]):
      self.assertLessEqual(abs(x - y), 1e-12 * y)

  @parameterized.parameters(450.0, 760.0, 800.0)
  def test_two_stages_by_squaring(self, t):
    slow = mpmath.mpf(0.01)
    second = mpmath.exp(-t)
    first = slow / (1 - slow) * (mpmath.exp(-slow * t) - second)
    subgenerator = onp.array([[-0.01, 0.01], [0.0, -1.0]])
    operands = oracle.Operands(
      onp.eye(2)[0], subgenerator, onp.array([0.0, 1.0]), None, onp.array([t])
    )
    self._check(operands, 10**150 * onp.array([first, second]))

  def test_many_slow_stages_by_steps(self):
    operands = _erlang(60, 1e-6, onp.array([3.0]))
    operands = operands._replace(initial_probs=onp.eye(60)[59])
    x = mpmath.mpf(1e-6) * 3
    densities = [
      mpmath.mpf(1e-6) * x**k / mpmath.factorial(k) * mpmath.exp(-x)
      for k in range(59, -1, -1)
    ]
    self._check(operands, 10**150 * onp.array(densities))


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class MixedTimesTest(parameterized.TestCase):
  """Against the closed forms of Erlang distributions.

  With log f = p log r + (p - 1) log t - r t + c the derivative along the rates,
  all of which are r, is p - r t. In the mass of phase j, counted from zero, it
  is f_{p-j} / f_p = (p - 1)! / (p - 1 - j)! / (r t)^j.
  """

  # With 41 phases and early times derivatives in exits are 1e60 times those
  # along the rates, which they cancel from.
  @parameterized.parameters(
    *itertools.product((2, 10), _RATES, (False, True)),
    *itertools.product((41,), _RATES[1:5], (False, True)),
  )
  def test_log_density(self, phases, rate, mixed_signs):
    rng = onp.random.default_rng(3)
    times = rng.gamma(2.0, 0.5, 150)
    weights = onp.ones(150)
    if mixed_signs:
      weights = rng.choice([-1.0, 1.0], 150) * rng.uniform(0.5, 2.0, 150)
    operands = _erlang(phases, rate, times)
    bars = _gradient("log_density", operands, weights)
    initial, subgenerator = onp.ravel(bars[0]), onp.asarray(bars[1])
    along = onp.sum(onp.reshape(subgenerator, (phases,) * 2) * operands[1])
    self._check(along, weights * (phases - rate * times))
    j = onp.arange(phases)[:, None]
    log_ratio = special.gammaln(phases) - special.gammaln(phases - j)
    self._check(
      initial, weights * onp.exp(log_ratio - j * onp.log(rate * times))
    )

  # Where r t is so small that its square underflows, beside the derivative in
  # the time the density itself is too small to see.
  @parameterized.product(
    phases=(2, 3, 10), log2_rate=(-510, -515, -627, -1000), count=(1, 3)
  )
  def test_tiny_rates(self, phases, log2_rate, count):
    rate = 2.0**log2_rate
    times = onp.array([1.0, 0.25, 3.0])[:count]
    weights = onp.array([-1.0, 2.0, 0.5])[:count]
    # Derivatives in the exits of all phases but the last one are infinite.
    exits = rate * onp.eye(phases)[-1]
    operands = _erlang(phases, rate, times)._replace(exit_rates=exits)
    bars = _gradient("log_density", operands, weights)
    jumps = onp.diag(onp.reshape(bars[1], (phases,) * 2), 1)
    along = rate * (onp.sum(jumps) + onp.ravel(bars[2])[-1])
    self._check(along, weights * (phases - rate * times))
    onp.testing.assert_allclose(
      bars[4], weights * ((phases - 1) / times - rate), rtol=_TOLERANCE
    )

  def _check(self, actual, terms):
    """Against a sum over times, to the size of its terms."""
    error = onp.abs(actual - onp.sum(terms, axis=-1))
    size = onp.sum(onp.abs(terms), axis=-1)
    self.assertLess(onp.max(error / size), _TOLERANCE)


def _erlang_density(phases: int, x: float) -> list[mpmath.mpf]:
  """The densities of 1, 2, ... phases of rate one."""
  result = [mpmath.exp(-mpmath.mpf(x))]
  for k in range(1, phases):
    result.append(result[-1] * x / k)
  return result


def _erlang_survival(phases: int, x: float) -> list[mpmath.mpf]:
  return list(itertools.accumulate(_erlang_density(phases, x)))


def _erlang_cdf(phases: int, x: float) -> list[mpmath.mpf]:
  terms = _erlang_density(phases + 5000, x)
  return list(itertools.accumulate(reversed(terms[1:])))[::-1][:phases]


_ERLANG = {
  "log_density": _erlang_density,
  "log_survival": _erlang_survival,
  "log_cdf": _erlang_cdf,
}


def _bars(
  kind: str,
  rates: onp.ndarray,
  times: Sequence[float],
  weights: Sequence[float],
  matrix: bool,
) -> tuple[onp.ndarray, onp.ndarray]:
  """Derivatives in the initial probabilities and in the rates of a chain."""
  p = len(rates)
  start = onp.eye(1, p)[0]
  code = kernel_calls.kind_code(kind)
  adjoint = kernel_calls.module().adjoint
  rest = [onp.zeros(1), onp.asarray(times)]
  if matrix:
    exits = onp.append(onp.zeros(p - 1), rates[-1])
    arrays = [
      start,
      onp.diag(rates[:-1], 1),
      exits,
      *rest,
      onp.asarray(weights),
    ]
    bars = adjoint(code, 1, arrays)
    jumps = onp.diag(onp.reshape(bars[1], (p, p)), 1)
    return onp.ravel(bars[0]), onp.append(jumps, onp.ravel(bars[2])[-1])
  indices = onp.stack([onp.arange(p), onp.arange(1, p + 1)]).astype(onp.int32)
  edges = (indices, onp.zeros(0), onp.zeros((p, 0)))
  arrays = [start, rates, onp.zeros(0), *rest, onp.asarray(weights)]
  bars = adjoint(code, 1, arrays, edges)
  return onp.ravel(bars[0]), onp.ravel(bars[1])


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class LongChainsTest(parameterized.TestCase):
  """Gradients whose entries span more than the range of doubles.

  The derivative in the initial probability of a phase is the function from that
  phase on. Of an Erlang distribution, and of a hypoexponential one whose rates
  are multiples of one rate, it has a closed form.
  """

  @parameterized.product(
    x=(32.0, 64.0, 200.0, 600.0, 1024.0, 2048.0, 3000.0),
    rate=(1.0, 0.75),
    kind=("log_density", "log_survival", "log_cdf"),
  )
  def test_erlang(self, x, rate, kind):
    initial, rates = _bars(kind, onp.full(626, rate), [x / rate], [1.0], False)
    self._check_initial(initial, _ERLANG[kind], [x], [1.0])
    if kind == "log_density":
      # The density is a symmetric function of the rates.
      self._check_rates(rates, 1 / rate, x / 626 / rate)

  @parameterized.parameters(*(2.0**k for k in range(9, 13)))
  def test_several_times(self, x):
    times, weights = [x, 0.8 * x, 0.5 * x], [1.0, 2.0, 0.5]
    initial, rates = _bars(
      "log_density", onp.full(626, 1.0), times, weights, False
    )
    self._check_initial(initial, _erlang_density, times, weights)
    total = onp.dot(times, weights) / 626
    self._check_rates(rates, sum(weights), total)

  # Beyond 2^15 times go by a ladder of squares. A row's rate of decay is known
  # to 2^-55 of itself.
  @parameterized.parameters(*(2.0**k for k in range(12, 20)), 3.0 * 2**17)
  def test_erlang_of_a_matrix(self, x):
    initial, rates = _bars("log_density", onp.ones(41), [x], [1.0], True)
    tolerance = max(_TOLERANCE, 2.0**-55 * x)
    self._check_initial(initial, _erlang_density, [x], [1.0], tolerance)
    self._check_rates(rates, 1, x / 41)

  @parameterized.parameters(*(2.0**k for k in range(7, 13)))
  def test_hypoexponential(self, t):
    # The time to the j-th largest of 626 exponential numbers, j = i, ..., 1.
    p = 626
    multiples = onp.arange(1, p + 1)
    initial, rates = _bars("log_density", multiples / p, [t], [1.0], False)
    with mpmath.workdps(40):
      u = mpmath.exp(-mpmath.mpf(t) / p)
      slope = t / p * ((p - 1) * u / (1 - u) - 1)

    def density(p: int, _) -> list[mpmath.mpf]:
      result = [mpmath.mpf(1)]
      for i in range(1, p):
        result.append(result[-1] * u / (1 - u) * (p - i) / i)
      return result[::-1]

    self._check_initial(initial, density, [t], [1.0])
    # A change of the unit of time.
    terms = rates * multiples / p
    error = abs(onp.sum(terms) - float(1 + slope))
    self.assertLess(error, _TOLERANCE * (p + onp.sum(onp.abs(terms))))

  def _check_initial(
    self, actual, function: _Function, times, weights, tolerance=_TOLERANCE
  ):
    p = len(actual)
    with mpmath.workdps(40):
      functions = [function(p, x) for x in times]
      for i in range(p):
        truth = mpmath.fsum(
          w * f[p - 1 - i] / f[p - 1]
          for w, f in zip(weights, functions, strict=True)
        )
        if truth > _LARGEST:
          self.assertEqual(actual[i], onp.inf, i)
        elif truth < _SMALLEST:
          self.assertBetween(actual[i], 0.0, 2e-277, i)
        else:
          error = abs(mpmath.mpf(float(actual[i])) - truth)
          self.assertLess(error, tolerance * truth, (i, actual[i]))

  def _check_rates(self, actual, jumps: float, stays: float):
    """Against jumps - stays, of which each is the mean of positive terms."""
    error = onp.max(onp.abs(actual - (jumps - stays)))
    self.assertLess(error, _TOLERANCE * (jumps + stays))


if __name__ == "__main__":
  absltest.main()
