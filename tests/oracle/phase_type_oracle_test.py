"""The oracle against closed forms and an independent method in mpmath."""

from absl.testing import absltest
from absl.testing import parameterized
import flint
import mpmath
import numpy as onp

from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle

_DIGITS = 25


def _number(x) -> mpmath.mpf:
  return mpmath.mpf(float(x))


def _function(kind, operands, moves):
  """Computes F at operands + sum_i h_i v_i, by mpmath's exponential."""

  def at(*steps):
    def moved(name):
      base = getattr(operands, name)
      if base is None:
        return None
      base = onp.asarray(base)
      total = [_number(x) for x in base.reshape(-1)]
      for h, move in zip(steps, moves):
        tangent = onp.asarray(getattr(move, name)).reshape(-1)
        total = [x + h * _number(v) for x, v in zip(total, tangent)]
      return total

    alpha, flat = moved("initial_probs"), moved("subgenerator")
    exits, time = moved("exit_rates"), moved("time")[0]
    p = len(alpha)
    matrix = mpmath.matrix(p, p)
    for i in range(p):
      for j in range(p):
        matrix[i, j] = flat[i * p + j]
    if exits is None:
      exits = [-mpmath.fsum(matrix[i, j] for j in range(p)) for i in range(p)]
    else:
      for i in range(p):
        others = mpmath.fsum(matrix[i, j] for j in range(p) if j != i)
        matrix[i, i] = -others - exits[i]
    atom = moved("prob_zero")
    atom = 1 - mpmath.fsum(alpha) if atom is None else atom[0]
    power = mpmath.expm(matrix * time, method="taylor")
    left = [
      mpmath.fsum(alpha[i] * power[i, j] for i in range(p)) for j in range(p)
    ]
    alive = mpmath.fsum(left)
    value = {
      "density": mpmath.fsum(x * s for x, s in zip(left, exits)),
      "survival": alive,
      "cdf": atom + mpmath.fsum(alpha) - alive,
    }[kind.removeprefix("log_")]
    return mpmath.log(value) if kind.startswith("log_") else value

  return at


def _mixed_derivative(function, order):
  """Computes the mixed derivative at zero, to about `_DIGITS` digits."""
  with mpmath.workdps(_DIGITS * (order + 2)):
    h = mpmath.mpf(10) ** -_DIGITS
    total = mpmath.mpf(0)
    for corner in range(2**order):
      steps = [h if corner >> i & 1 else -h for i in range(order)]
      sign = (-1) ** sum(1 for step in steps if step < 0)
      total += sign * function(*steps)
    return total / (2 * h) ** order


def _distance(actual: flint.arb, expected: mpmath.mpf) -> float:
  with mpmath.workdps(50):
    return float(abs(mpmath.mpf(actual.mid().str(45, radius=False)) - expected))


def _random_model(exits: bool, atom: bool) -> oracle.Operands:
  rng = onp.random.default_rng(3)
  rates = rng.uniform(0.1, 2.0, (4, 4)) * (1 - onp.eye(4))
  leave = onp.array([0.0, 0.5, 1.25, 0.25])
  subgenerator = rates - onp.diag(rates.sum(axis=1) + leave)
  return oracle.Operands(
    onp.array([0.5, 0.0, 0.25, 0.125]),
    subgenerator,
    leave if exits else None,
    onp.float64(0.125) if atom else None,
    onp.float64(1.5),
  )


class ClosedFormTest(parameterized.TestCase):
  @parameterized.parameters(1e-20, 0.5, 10.0, 700.0)
  def test_erlang(self, t):
    value, _ = oracle.directional(
      "log_density", models.erlang()._replace(time=t)
    )
    with mpmath.workdps(40):
      t = _number(t)
      expected = 9 * mpmath.log(t) - t - mpmath.log(mpmath.factorial(9))
    self.assertLess(_distance(value, expected), 1e-17)

  @parameterized.parameters(1e-10, 3.0, 200.0)
  def test_exponential(self, t):
    model = models.erlang(phases=1, rate=1.5)._replace(time=t)
    with mpmath.workdps(40):
      x = mpmath.mpf(1.5) * _number(t)
      expected = {
        "density": mpmath.mpf(1.5) * mpmath.exp(-x),
        "survival": mpmath.exp(-x),
        "cdf": -mpmath.expm1(-x),
      }
      for kind, value in expected.items():
        actual, _ = oracle.directional(kind, model)
        self.assertLess(_distance(actual, value), 1e-18 * value)

  def test_rare_component_rules_the_far_tail(self):
    model = models.hyperexponential()._replace(time=300.0)
    value, _ = oracle.directional("log_density", model)
    expected = -53 * mpmath.log(2) - 37.5
    self.assertLess(_distance(value, expected), 1e-13)

  def test_scale_of_the_hyperexponential(self):
    # f = sum_i a_i s_i exp(-s_i t): d log f/ds_i = a_i (1 - s_i t) e_i / f, of
    # which the scale is a_i (1 + s_i t) e_i / f.
    model = models.hyperexponential()._replace(
      initial_probs=onp.array([0.5, 0.5]), time=2.0
    )
    gradient, scale = oracle.gradient("log_density", model)
    rates = onp.array([1.0, 0.125])
    terms = 0.5 * onp.exp(-2 * rates)
    total = onp.sum(terms * rates)
    for i in range(2):
      expected = terms[i] * (1 - 2 * rates[i]) / total
      self.assertLess(oracle.error(expected, gradient.exit_rates[i]), 1e-15)
      expected = terms[i] * (1 + 2 * rates[i]) / total
      self.assertAlmostEqual(scale.exit_rates[i], expected, places=14)
      expected = terms[i] * rates[i] / 0.5 / total
      self.assertAlmostEqual(scale.initial_probs[i], expected, places=14)


class DerivativesTest(parameterized.TestCase):
  @parameterized.product(
    kind=oracle.KINDS, exits=(True, False), atom=(True, False)
  )
  def test_gradient(self, kind, exits, atom):
    model = _random_model(exits, atom)
    gradient, scale = oracle.gradient(kind, model)
    for name in oracle.Gradient._fields:
      entries = getattr(gradient, name)
      shape = onp.shape(getattr(model, name))
      for k, entry in enumerate(entries):
        unit = onp.zeros(len(entries))
        unit[k] = 1.0
        move = _zero_direction(model)._replace(**{name: unit.reshape(shape)})
        expected = _mixed_derivative(_function(kind, model, [move]), 1)
        self.assertLess(_distance(entry, expected), 1e-18, (name, k))
        self.assertLessEqual(
          float(abs(expected)), getattr(scale, name)[k] * (1 + 1e-12)
        )

  @parameterized.product(kind=oracle.KINDS, exits=(True, False))
  def test_second_and_third_directions(self, kind, exits):
    model = _random_model(exits, atom=not exits)
    rng = onp.random.default_rng(5)
    moves = tuple(models.direction(model, rng) for _ in range(3))
    for order in (1, 2, 3):
      actual, scale = oracle.directional(kind, model, moves[:order])
      expected = _mixed_derivative(_function(kind, model, moves[:order]), order)
      self.assertLess(_distance(actual, expected), 1e-17 * (1 + scale))
      self.assertLessEqual(float(abs(expected)), scale)

  @parameterized.product(kind=oracle.KINDS, exits=(True, False))
  def test_gradient_along_directions(self, kind, exits):
    model = _random_model(exits, atom=exits)
    rng = onp.random.default_rng(7)
    moves = tuple(models.direction(model, rng) for _ in range(3))
    for order in (1, 2, 3):
      gradient, scale = oracle.gradient(kind, model, moves[: order - 1])
      with flint.ctx.workprec(256):
        total, total_scale = flint.arb(0), 0.0
        for name in oracle.Gradient._fields:
          tangent = onp.ravel(getattr(moves[order - 1], name))
          for x, c, v in zip(
            getattr(gradient, name), getattr(scale, name), tangent
          ):
            total += x * flint.arb(float(v))
            total_scale += c * abs(v)
        expected, c = oracle.directional(kind, model, moves[:order])
        self.assertLess(float(abs(total - expected).upper()), 1e-17 * (1 + c))
      # Derivatives in time have tighter scales than directions of time.
      self.assertLess(total_scale, c * (1 + 1e-9))


def _zero_direction(model):
  return oracle.Operands(
    *(None if x is None else onp.zeros(onp.shape(x)) for x in model)
  )


if __name__ == "__main__":
  absltest.main()
