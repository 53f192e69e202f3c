"""Expected statistics of the kernel against ball arithmetic.

With M the generator, e an end vector and alpha a start, all statistics are
entries of the integral of exp(M u)' alpha e' exp(M (t - u))' over u, a block
of the exponential of a matrix of twice the size (C. Van Loan, Computing
integrals involving the matrix exponential, 1978).
"""

from absl.testing import absltest
from absl.testing import parameterized
import flint
import numpy as onp

from tests.accuracy import cases
from tests.accuracy import kernel_calls
from tests.oracle import models
from tests.oracle import parameters
from tests.oracle import phase_type_oracle as oracle

_BITS = 4000
_TOLERANCE = 1e-12
_ZERO = flint.arb(0)


def _number(x):
  return flint.arb(flint.fmpq(x.numerator, x.denominator))


def _matrix(rows):
  return flint.arb_mat([[_number(x) for x in row] for row in rows])


def _joint(base, operands):
  """P(O), and the five statistics times it, as flat lists of balls."""
  chain = parameters.derive(operands)
  p = len(chain.alpha)
  generator = _matrix([[*row, s] for row, s in zip(chain.matrix, chain.exits)])
  alpha = [_number(x) for x in chain.alpha]
  exits = [_number(x) for x in chain.exits]
  zero, one = flint.arb(0), flint.arb(1)
  ends = {
    "density": [*exits, zero],
    "survival": [*[one] * p, zero],
    "cdf": [*[zero] * p, one],
  }[base]
  n = p + 1
  block = flint.arb_mat(2 * n, 2 * n)
  for i in range(p):
    for j in range(n):
      block[i, j] = block[n + i, n + j] = generator[i, j]
  for i in range(n):
    for j in range(p):
      block[i, n + j] = ends[i] * alpha[j]
  power = (block * _number(chain.time)).exp()
  reach = [
    sum((alpha[i] * power[i, j] for i in range(p)), zero) for j in range(n)
  ]
  after = [
    sum((power[i, j] * ends[j] for j in range(n)), zero) for i in range(p)
  ]
  # passing[i][j]: the integral of P(i at u) P(end | j at u).
  passing = [[power[j, n + i] for j in range(n)] for i in range(p)]
  atom = _number(chain.atom) if base == "cdf" else zero
  total = sum((reach[j] * ends[j] for j in range(n)), atom)
  jumps = [
    [zero if i == j else generator[i, j] * passing[i][j] for j in range(p)]
    for i in range(p)
  ]
  if base == "density":
    left = [reach[i] * exits[i] for i in range(p)]
  elif base == "survival":
    left = [zero] * p
  else:
    left = [exits[i] * passing[i][p] for i in range(p)]
  return total, (
    [alpha[i] * after[i] for i in range(p)],
    [passing[i][i] for i in range(p)],
    [x for row in jumps for x in row],
    left,
    [atom],
  )


def _exact(base, operands):
  """The five statistics given one value."""
  total, joint = _joint(base, operands)
  return [[x / total for x in part] for part in joint]


def _exact_interval(operands, lower, upper):
  """The same given an interval: what the cdf at its ends is apart."""
  total, joint = _joint("cdf", operands._replace(time=upper))
  before, less = _joint("cdf", operands._replace(time=lower))
  return [
    [(x - y) / (total - before) for x, y in zip(part, other, strict=True)]
    for part, other in zip(joint, less, strict=True)
  ]


_MODELS = {
  "erlang": models.erlang(5),
  "cyclic": models.cyclic(),
  "near_equal": models.near_equal(),
  "birth_death": models.birth_death(7),
  "hyperexponential": models.hyperexponential(),
  "stiff": models.hypoexponential(2.0 ** onp.arange(0, 15, 3)),
}


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class ExpectedStatisticsTest(parameterized.TestCase):
  def _check(self, base, operands):
    kind = kernel_calls.kind_code("log_" + base)
    arrays = [*kernel_calls.inputs(operands), onp.ones(1)]
    actual = kernel_calls.module().statistics(kind, arrays)
    with flint.ctx.workprec(_BITS):
      exact = _exact(base, operands)
    self._assert_accurate(actual, exact)

  def _assert_accurate(self, actual, exact):
    for k, (got, want) in enumerate(zip(actual, exact, strict=True)):
      for i, (x, y) in enumerate(zip(onp.ravel(got), want, strict=True)):
        size = float(abs(y))
        error = oracle.error(x, y)
        self.assertLessEqual(error, _TOLERANCE * size + 1e-290, (k, i, x))

  @parameterized.product(
    base=("density", "survival", "cdf"),
    model=tuple(_MODELS),
    options=tuple(cases.OPTIONS),
    t=(1e-20, 1e-3, 0.5, 30.0),
  )
  def test_every_number_is_accurate_to_its_own_size(
    self, base, model, options, t
  ):
    exits, atom = cases.OPTIONS[options]
    operands = models.with_options(_MODELS[model], exits, atom)
    operands = operands._replace(time=t)
    self._check(base, operands)

  @parameterized.product(
    model=("erlang", "cyclic", "hyperexponential", "stiff"),
    options=tuple(cases.OPTIONS),
    interval=((0.0, 1e-3), (0.5, 0.5 * (1 + 1e-9)), (0.5, 2.0), (20.0, 90.0)),
  )
  def test_intervals(self, model, options, interval):
    operands = models.with_options(_MODELS[model], *cases.OPTIONS[options])
    arrays = kernel_calls.inputs(operands._replace(time=onp.array(interval)))
    kinds = onp.array([6, 7], onp.int32)
    actual = kernel_calls.module().statistics(
      0, [*arrays, onp.array([1.0, 5.0])], kinds=kinds
    )
    with flint.ctx.workprec(_BITS):
      exact = _exact_interval(operands, *interval)
    self._assert_accurate(actual, exact)

  @parameterized.parameters(*cases.OPTIONS)
  def test_a_kind_for_each_time(self, options):
    operands = models.with_options(_MODELS["cyclic"], *cases.OPTIONS[options])
    kinds = onp.array([4, 0, 7, 6, 7, 2, 0], onp.int32)
    times = onp.array([0.5, 2.0, 1.0, 0.25, 3.0, 4.0, 1e-3])
    weights = onp.array([1.0, 0.5, 3.0, 2.0, 7.0, 0.25, 4.0])
    arrays = kernel_calls.inputs(operands._replace(time=times))
    actual = kernel_calls.module().statistics(
      0, [*arrays, weights], kinds=kinds
    )
    with flint.ctx.workprec(_BITS):
      terms = [
        (weights[i], _exact(base, operands._replace(time=times[i])))
        for i, base in (
          (0, "cdf"),
          (1, "density"),
          (5, "survival"),
          (6, "density"),
        )
      ]
      terms.append((weights[3], _exact_interval(operands, 0.25, 3.0)))
      exact = [
        [
          sum((flint.arb(w) * x for (w, _), x in zip(terms, each)), _ZERO)
          for each in zip(*parts, strict=True)
        ]
        for parts in zip(*(given for _, given in terms), strict=True)
      ]
    self._assert_accurate(actual, exact)

  @parameterized.product(
    base=("density", "survival", "cdf"), model=("thin", "spread")
  )
  def test_states_far_below_the_range_of_doubles(self, base, model):
    rates, t = {
      "thin": (onp.append(onp.full(12, 1e-30), 1.0), 1e-3),
      "spread": (onp.array([1.0, 2.0**-200, 2.0**-400, 2.0**-350, 1.0]), 50.0),
    }[model]
    self._check(base, models.hypoexponential(rates)._replace(time=t))


if __name__ == "__main__":
  absltest.main()
