"""Rates times times far beyond what steps can do, against ball arithmetic."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from tests.accuracy import cases
from tests.accuracy import derivative_checks
from tests.accuracy import kernel_calls
from tests.accuracy import sweeps
from tests.oracle import interval_oracle
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle

_LOGS = ("log_density", "log_survival", "log_cdf")


def _model(start, rates, exits) -> oracle.Operands:
  subgenerator = rates - onp.diag(onp.sum(rates, axis=1) + exits)
  return oracle.Operands(start, subgenerator, exits, None, 1.0)


def _stiff(phases: int, seed: int, exits: tuple = ()) -> oracle.Operands:
  """Births and deaths at rates from 1/128 to 1024, left from the last phase.

  Args:
    phases: their number.
    seed: of the rates, which are powers of two: sums of rows are exact.
    exits: exits from the first phases, besides that from the last.

  Returns:
    The model, begun in the first phase.
  """
  rng = onp.random.default_rng(seed)
  births, deaths = 2.0 ** rng.integers(-7, 11, (2, phases - 1))
  all_exits = onp.zeros(phases)
  all_exits[-1] = 2.0 ** rng.integers(-7, 11)
  all_exits[: len(exits)] += exits
  rates = onp.diag(births, 1) + onp.diag(deaths, -1)
  return _model(onp.eye(phases)[0], rates, all_exits)


def _metastable() -> oracle.Operands:
  """Two lumps of phases that hardly communicate."""
  slow = 2.0**-30
  rates = onp.array(
    [[0, 1, 0, 0], [1, 0, slow, 0], [0, slow, 0, 2], [0, 0, 2, 0]], float
  )
  exits = onp.array([2.0**-29, 0, 0, 2.0**-32])
  return _model(onp.array([0.0, 1.0, 0.0, 0.0]), rates, exits)


def _ring(exit_rate: float) -> oracle.Operands:
  """Nine phases in a ring, whose chain of jumps is periodic."""
  rates = onp.roll(onp.eye(9), 1, axis=1)
  rates[8, 0] = 1.0 - exit_rate
  return _model(onp.eye(9)[0], rates, exit_rate * onp.eye(9)[8])


def _at(operands: oracle.Operands, x: float) -> oracle.Operands:
  """The operands at the time of x jumps of the fastest phase."""
  rate = onp.max(-onp.diag(onp.asarray(operands.subgenerator)))
  return operands._replace(time=x / rate)


_MODELS = {
  "stiff": _stiff(20, 0),
  "leaking": _stiff(20, 1, exits=(2.0**-9, 2.0**-12)),
  "metastable": _metastable(),
  "slow_ring": _ring(2.0**-40),
  "ring": _ring(0.5),
  "stages": models.hypoexponential(2.0 ** onp.linspace(0, 32, 12).round()),
  # Stages after the slowest are left far earlier than the chain.
  "slow_inside": models.hypoexponential(
    onp.array([0.82, 0.56, 0.36, 0.15, 0.44, 0.14075, 0.14388, 0.999])
  ),
  "slow_stages": models.hypoexponential(onp.append(onp.full(40, 1e-6), 1e3)),
  "one_phase": models.erlang(1, 2.0),
  "birth_death": models.birth_death(),
}


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class HugeTimesTest(derivative_checks.TestCase):
  def _check_value(self, kind, operands):
    truth, _ = oracle.directional(kind, operands)
    actual = kernel_calls.directional(kind, operands)[0]
    bound = cases.value_tolerance(kind, float(truth.mid()))
    self.assertLessEqual(
      oracle.error(actual, truth), bound, (kind, operands.time, actual, truth)
    )

  @parameterized.parameters(
    *sweeps.product(5, model=tuple(_MODELS), x=(5e3, 1e6, 1e8, 3e9, 1e12, 4e14))
  )
  def test_logs(self, model, x):
    operands = _at(_MODELS[model], x)
    for kind in _LOGS:
      if (model, x) == ("slow_stages", 4e14):
        # The rungs' entries are farther apart than doubles reach.
        arrays = kernel_calls.inputs(operands)
        self.assertIn("smallest", kernel_calls.status(kind, arrays)[0])
        continue
      self._check_value(kind, operands)

  @parameterized.parameters(
    *sweeps.product(
      5, options=tuple(cases.OPTIONS), kind=oracle.KINDS, x=(1e5, 1e7, 1e9)
    )
  )
  def test_all_kinds(self, options, kind, x):
    exits, atom = cases.OPTIONS[options]
    model = models.with_options(_MODELS["leaking"], exits, atom)
    self._check_value(kind, _at(model, x))

  @parameterized.parameters(
    *sweeps.quick_and(
      [(40, "log_density", 1e8), (100, "log_density", 2e6)],
      [
        (100, "log_density", 1e8),
        (100, "log_survival", 1e8),
        (100, "log_cdf", 1e8),
      ],
    )
  )
  def test_many_stiff_phases(self, phases, kind, x):
    self._check_value(kind, _at(_stiff(phases, 2), x))

  @parameterized.parameters(*sweeps.quick_and([(20,)], [(60,)]))
  def test_far_right_tails(self, phases):
    # Some forty squarings must not cost the decay rate a digit: at a survival
    # of exp(-800) three units in its last place would be too many.
    exits = 2.0 ** onp.random.default_rng(3).integers(-12, -3, phases)
    model = _stiff(phases, 3, exits=tuple(exits))
    for time in (1e5, 1e8):
      for kind in ("log_density", "log_survival"):
        self._check_value(kind, model._replace(time=time))

  @parameterized.parameters(
    *sweeps.product(
      5, kind=oracle.KINDS, options=tuple(cases.OPTIONS), x=(1e4, 1e8)
    )
  )
  def test_gradients_of_five_phases(self, kind, options, x):
    exits, atom = cases.OPTIONS[options]
    model = models.with_options(_stiff(5, 4), exits, atom)
    self.check_gradient(kind, _at(model, x), (), 1e-12)
    self.check_directions(kind, _at(model, x), 1e-12, count=2)

  @parameterized.parameters(
    *sweeps.quick_and(
      [
        ("stiff", 3e4),
        ("metastable", 1e8),
        ("slow_ring", 1e8),
        ("ring", 5e3),
        ("stages", 1e8),
        ("slow_inside", 7e4),
      ],
      [("stiff", 1e12), ("leaking", 1e8), ("metastable", 1e12)],
    )
  )
  def test_gradients(self, model, x):
    for kind in _LOGS:
      self.check_gradient(kind, _at(_MODELS[model], x), (), 1e-12)

  @parameterized.parameters(*sweeps.quick_and([(30,)], [(100,)]))
  def test_gradients_of_many_stiff_phases(self, phases):
    operands = _at(_stiff(phases, 2), 1e8)
    self.check_gradient("log_density", operands, (), 1e-12)

  @parameterized.parameters(*oracle.KINDS)
  def test_higher_derivatives(self, kind):
    rng = onp.random.default_rng(7)
    for x, orders in ((1e4, (2, 3)), (1e8, (2,)), (1e8, (3,))):
      operands = _at(_stiff(5, 4), x)
      for order in orders:
        moves = tuple(models.direction(operands, rng) for _ in range(order))
        if (x, order) == (1e8, 3):
          # Those that are twice in time and once in rates are NaN.
          moves = (moves[0], *(v._replace(time=0.0) for v in moves[1:]))
        truth, scale = oracle.directional(kind, operands, moves)
        actual = kernel_calls.directional(kind, operands, moves)
        self.assertEmpty(
          derivative_checks.shortfall(actual, [truth], [scale], 1e-9)
        )
        self.check_gradient(kind, operands, moves[1:], 1e-9)

  @parameterized.parameters("density", "survival", "cdf")
  def test_gradients_where_nothing_can_happen(self, kind):
    # Begun where there is no way out.
    rates = onp.diag([2.0, 2.0, 0.0], 1)
    exits = onp.array([1.0, 2.0**-10, 0.0, 0.0])
    operands = _model(onp.eye(4)[3], rates, exits)._replace(prob_zero=0.0)
    self.check_gradient(kind, operands._replace(time=1e6), (), 1e-12)

  @parameterized.parameters(*oracle.KINDS)
  def test_what_else_is_asked_for_does_not_matter(self, kind):
    model = _MODELS["leaking"]
    times = onp.append(
      _at(model, onp.logspace(-3, 14, 24)).time, [0.0, onp.inf]
    )
    together = kernel_calls.directional(kind, model._replace(time=times))
    alone = [
      kernel_calls.directional(kind, model._replace(time=t))[0] for t in times
    ]
    onp.testing.assert_array_equal(together, alone)
    order = onp.random.default_rng(5).permutation(len(times))
    mixed = kernel_calls.directional(kind, model._replace(time=times[order]))
    onp.testing.assert_array_equal(mixed, together[order])

  @parameterized.parameters(*oracle.KINDS)
  def test_small_and_huge_times_add_up(self, kind):
    times = _at(_MODELS["leaking"], onp.array([1.0, 1e3, 1e6, 1e8, 1e9])).time
    weights = onp.array([0.5, -1.0, 2.0, -0.75, 1.25])
    model = _MODELS["leaking"]
    arrays = kernel_calls.inputs(model._replace(time=times)) + [weights]
    code = kernel_calls.kind_code(kind)
    actual = kernel_calls.module().adjoint(code, 1, arrays)
    exact = [oracle.gradient(kind, model._replace(time=t)) for t in times]
    for k in (0, 1, 2):  # initial_probs, subgenerator, exit_rates
      truth = [
        sum(oracle.exact(w) * x for w, x in zip(weights, entries))
        for entries in zip(*(g[k] for g, _ in exact))
      ]
      scales = [
        sum(abs(w) * c for w, c in zip(weights, sizes))
        for sizes in zip(*(c[k] for _, c in exact))
      ]
      self.assertEmpty(
        derivative_checks.shortfall(onp.ravel(actual[k]), truth, scales, 1e-12)[
          :5
        ]
      )
    alone = [
      kernel_calls.gradient(kind, model._replace(time=t)).time[0] for t in times
    ]
    onp.testing.assert_allclose(actual[4], weights * alone, rtol=1e-15)

  @parameterized.parameters(*_LOGS)
  def test_edges(self, kind):
    # The same model twice: as a matrix and as edges whose rates are operands.
    model = _at(_MODELS["leaking"], 1e8)
    dense = kernel_calls.inputs(model)
    rates = dense[1] - onp.diag(onp.diag(dense[1]))
    sources, targets = onp.nonzero(rates)
    leaving = onp.nonzero(dense[2])[0]
    indices = onp.stack(
      [
        onp.append(sources, leaving),
        onp.append(targets, onp.full(len(leaving), len(rates))),
      ]
    ).astype(onp.int32)
    theta = onp.append(rates[sources, targets], dense[2][leaving])
    arrays = [dense[0], theta, dense[3], dense[3], dense[4]]
    edges = (indices, onp.zeros(0), onp.zeros((len(theta), 0)))
    code = kernel_calls.kind_code(kind)
    kernel = kernel_calls.module()
    onp.testing.assert_allclose(
      kernel.forward(code, 0, arrays, edges),
      kernel.forward(code, 0, dense),
      rtol=1e-14,
    )
    weight = [onp.ones(1)]
    actual = kernel.adjoint(code, 1, arrays + weight, edges)[1]
    truth, scales = oracle.gradient(kind, model)
    chosen = [i * len(rates) + j for i, j in zip(sources, targets)]
    expected = [truth.subgenerator[k] for k in chosen]
    expected += [truth.exit_rates[i] for i in leaving]
    sizes = [scales.subgenerator[k] for k in chosen]
    sizes += [scales.exit_rates[i] for i in leaving]
    self.assertEmpty(
      derivative_checks.shortfall(actual, expected, sizes, 1e-12)
    )

  def test_underflow_is_no_zero(self):
    # The way to absorption is below the smallest double for most of the way.
    rates = onp.array([1.0, 2.0**-340, 2.0**-340, 2.0**-340, 1.0])
    operands = models.hypoexponential(rates)._replace(time=1e6)
    for kind in oracle.KINDS:
      self._check_value(kind, operands)
    # It cannot be swept again on extended doubles.
    operands = operands._replace(time=1e9)
    arrays = kernel_calls.inputs(operands)
    for kind in ("log_density", "density", "log_cdf", "cdf"):
      self.assertTrue(onp.isnan(kernel_calls.directional(kind, operands)[0]))
      self.assertIn("smallest", kernel_calls.status(kind, arrays)[0])
    for kind in ("log_survival", "survival"):
      self._check_value(kind, operands)

  @parameterized.parameters((100, 2.0**61), (1500, 1e8))
  def test_the_limits_have_a_reason(self, phases, x):
    operands = _at(_stiff(phases, 6), x)
    self.assertTrue(
      onp.isnan(kernel_calls.directional("log_density", operands)[0])
    )
    message = kernel_calls.status("log_density", kernel_calls.inputs(operands))
    self.assertIn("work limit", message[0])


# Models of which something is left after 1e13 jumps.
_SLOW = ("metastable", "slow_ring", "stages")
# Of a huge time: from almost nothing to wide.
_WIDTHS = (1e-12, 0.25, 20.0)


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class IntervalsOfHugeTimesTest(parameterized.TestCase):
  """Masses of intervals whose upper end is far beyond what steps can do."""

  def _ends(self, operands):
    time = operands.time
    yield from ((time, time * (1.0 + width)) for width in _WIDTHS)
    # The lower end is one that has steps.
    yield from ((0.0, time), (1e-9 * time, time))

  def _inputs(self, operands, lower, upper):
    ends = onp.array([lower, upper])
    return kernel_calls.inputs(operands._replace(time=ends))

  def _kinds(self):
    return onp.array([6, 7], onp.int32)

  @parameterized.parameters(
    *((x, name) for x in (1e5, 1e9) for name in ("leaking", *_SLOW)),
    *((1e13, name) for name in _SLOW),
  )
  def test_log_mass(self, x, model):
    operands = _at(_MODELS[model], x)
    for lower, upper in self._ends(operands):
      arrays = self._inputs(operands, lower, upper)
      actual = kernel_calls.module().forward(0, 0, arrays, None, self._kinds())
      truth, _ = interval_oracle.log_mass(operands._replace(time=lower), upper)
      bound = cases.log_tolerance(float(truth.mid()))
      self.assertLessEqual(
        oracle.error(actual[0], truth), bound, (lower, upper)
      )
      self.assertEqual(actual[1], 0.0)

  @parameterized.product(
    options=tuple(cases.OPTIONS), x=(1e5, 1e9), order=(1, 2)
  )
  def test_gradients(self, options, x, order):
    model = models.with_options(_MODELS["metastable"], *cases.OPTIONS[options])
    operands = _at(model, x)
    rng = onp.random.default_rng(7)
    for lower, upper in self._ends(operands):
      moves = [models.direction(operands, rng, 0.0) for _ in range(order - 1)]
      pairs = tuple((v, upper * rng.standard_normal()) for v in moves)
      arrays = self._inputs(operands, lower, upper)
      for move, end in pairs:
        arrays += self._inputs(move, move.time, end)
      actual = kernel_calls.module().adjoint(
        0, order, [*arrays, onp.ones(2)], kinds=self._kinds()
      )
      truth, scales = interval_oracle.gradient(
        operands._replace(time=lower), upper, pairs
      )
      for field, bar in zip(oracle.Gradient._fields, actual, strict=True):
        missed = derivative_checks.shortfall(
          onp.ravel(bar),
          getattr(truth, field),
          getattr(scales, field),
          1e-12 if order == 1 else 1e-9,
        )
        self.assertEmpty(missed, (field, lower, upper))

  @parameterized.parameters(1, 2, 3)
  def test_directions(self, order):
    operands = _at(_MODELS["slow_ring"], 1e9)
    rng = onp.random.default_rng(11)
    for lower, upper in self._ends(operands):
      arrays = self._inputs(operands, lower, upper)
      pairs = []
      for _ in range(order):
        move = models.direction(operands, rng, 0.0)
        pairs.append((move, upper * rng.standard_normal()))
        arrays += self._inputs(move, move.time, pairs[-1][1])
      actual = kernel_calls.module().forward(
        0, order, arrays, None, self._kinds()
      )
      truth, scale = interval_oracle.log_mass(
        operands._replace(time=lower), upper, tuple(pairs)
      )
      tolerance = 1e-12 if order == 1 else 1e-9
      self.assertEmpty(
        derivative_checks.shortfall(actual[:1], [truth], [scale], tolerance)
      )

  def test_the_rest_of_the_call_does_not_matter(self):
    operands = _at(_MODELS["leaking"], 1e8)
    times = operands.time * onp.array([0.5, 0.75, 1.0, 2.0, 3.0])
    kinds = onp.array([6, 7, 2, 6, 7], onp.int32)
    together = kernel_calls.module().forward(
      0, 0, kernel_calls.inputs(operands._replace(time=times)), None, kinds
    )
    for first, count in ((0, 2), (2, 1), (3, 2)):
      part = slice(first, first + count)
      arrays = kernel_calls.inputs(operands._replace(time=times[part]))
      alone = kernel_calls.module().forward(0, 0, arrays, None, kinds[part])
      onp.testing.assert_array_equal(alone, together[part])


if __name__ == "__main__":
  absltest.main()
