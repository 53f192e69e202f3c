"""Many times of one model, which the kernel takes in groups."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from tests.accuracy import cases
from tests.accuracy import derivative_checks
from tests.accuracy import kernel_calls
from tests.accuracy import sweeps
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle

# From so many times on they are taken in groups
# (native/kernel/methods/many_times/node_groups.h).
_MANY = 512
_COUNT = 1000


def _stiff() -> oracle.Operands:
  """A birth-death chain with rates from 1e3 to 1e-2."""
  phases = 12
  speeds = onp.geomspace(1e3, 1e-2, phases)
  rates = onp.diag(speeds[:-1], 1) + onp.diag(speeds[1:] / 4.0, -1)
  exits = speeds * onp.eye(phases)[-1]
  subgenerator = rates - onp.diag(onp.sum(rates, axis=1) + exits)
  return oracle.Operands(onp.eye(phases)[0], subgenerator, exits, None, 1.0)


# Each with the time at which log f is about -700, or where much work begins.
_MODELS = {
  "erlang": (models.erlang(), 748.0),
  "kingman": (models.kingman(10), 640.0),
  "hyperexponential": (models.hyperexponential(), 5300.0),
  "near_equal": (models.near_equal(), 735.0),
  "stiff": (_stiff(), 300.0),
}


def _reach(operands: oracle.Operands) -> float:
  """The length of the intervals in which times share a group."""
  largest = onp.max(-onp.diag(operands.subgenerator))
  return float(4.0 * 2.0 ** -onp.ceil(onp.log2(largest)))


def _times(operands: oracle.Operands, last: float) -> onp.ndarray:
  """1000 times from 1e-10 to `last`: in crowds, alone, in any order."""
  rng = onp.random.default_rng(5)
  reach = _reach(operands)
  steps = onp.unique(onp.geomspace(1, last / reach - 1, 24).round())
  crowds = reach * (rng.choice(steps, 700) + rng.uniform(0.0, 1.0, 700))
  left = onp.geomspace(1e-10, reach, 200)
  alone = rng.uniform(0.0, last, _COUNT - 900)
  times = onp.concatenate([crowds, left, alone, [last]])[: _COUNT - 1]
  return rng.permutation(onp.append(times, last))


def _crowded(operands: oracle.Operands, starts: tuple[float, ...], count: int):
  """1000 times, of which `count` differ, near starts * the reach of a group."""
  rng = onp.random.default_rng(7)
  distinct = _reach(operands) * (
    rng.choice(starts, count) + rng.uniform(0.0, 1.0, count)
  )
  return distinct, rng.integers(0, count, _COUNT), rng.standard_normal(_COUNT)


def _gradient(kind, operands, times, weights) -> oracle.Gradient:
  arrays = kernel_calls.inputs(operands._replace(time=times)) + [weights]
  code = kernel_calls.kind_code(kind)
  bars = kernel_calls.module().adjoint(code, 1, arrays)
  return oracle.Gradient(*(onp.ravel(bar) for bar in bars))


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class ManyValuesTest(parameterized.TestCase):
  def _check(self, kind, model, stride):
    operands, last = _MODELS[model]
    times = _times(operands, last)
    actual = kernel_calls.directional(kind, operands._replace(time=times))
    for t, x in list(zip(times, actual))[::stride]:
      truth, _ = oracle.directional(kind, operands._replace(time=t))
      bound = cases.value_tolerance(kind, float(truth.mid()))
      self.assertLessEqual(oracle.error(x, truth), bound, (t, x, truth))

  @parameterized.parameters(*_MODELS)
  def test_log_density(self, model):
    stride = 17 if model == "kingman" else 3
    self._check("log_density", model, stride if sweeps.FULL else 5 * stride)

  @parameterized.parameters(
    *sweeps.product(
      2, kind=oracle.KINDS[1:], model=("erlang", "hyperexponential", "stiff")
    )
  )
  def test_other_kinds(self, kind, model):
    self._check(kind, model, 11)

  @parameterized.parameters(*oracle.KINDS)
  def test_times_of_all_kinds_among_them(self, kind):
    operands = models.with_options(models.erlang(), atom=0.25)
    times = _times(operands, 30.0)
    few = [0.0, -1.0, onp.inf, onp.nan, -onp.inf, 1e-310, 0.0, times[3]]
    places = 100 * onp.arange(len(few))
    times[places] = few
    actual = kernel_calls.directional(kind, operands._replace(time=times))
    expected = kernel_calls.directional(
      kind, operands._replace(time=onp.array(few))
    )
    onp.testing.assert_allclose(actual[places], expected, rtol=1e-13)
    finite = onp.delete(actual, places)
    self.assertTrue(onp.all(onp.isfinite(finite)))

  @parameterized.product(kind=oracle.KINDS, model=("erlang", "stiff"))
  def test_the_order_of_the_times_does_not_matter(self, kind, model):
    operands, last = _MODELS[model]
    times = _times(operands, last)
    times[::7] = times[1::7]
    order = onp.random.default_rng(1).permutation(len(times))
    expected = kernel_calls.directional(kind, operands._replace(time=times))
    actual = kernel_calls.directional(
      kind, operands._replace(time=times[order])
    )
    self.assertEqual(actual.tobytes(), expected[order].tobytes())
    ascending = kernel_calls.directional(
      kind, operands._replace(time=onp.sort(times))
    )
    self.assertEqual(
      ascending.tobytes(), expected[onp.argsort(times)].tobytes()
    )

  @parameterized.parameters(*oracle.KINDS)
  def test_with_one_time_fewer(self, kind):
    operands, _ = _MODELS["erlang"]
    times = onp.random.default_rng(2).uniform(0.0, 20.0, _MANY + 1)
    fewer, many, more = (
      kernel_calls.directional(kind, operands._replace(time=times[:n]))
      for n in (_MANY - 1, _MANY, _MANY + 1)
    )
    for values in (many, more):
      onp.testing.assert_allclose(values[: _MANY - 1], fewer, 1e-14, 1e-14)
    # The last bits tell that it was not the same sums.
    self.assertTrue(onp.any(many[:-1] != fewer))


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class ManyGradientsTest(parameterized.TestCase):
  @parameterized.parameters(
    *sweeps.quick_and(
      [
        ("log_density", "erlang", (0, 1, 2, 5, 100), 40),
        ("log_density", "hyperexponential", (0, 10, 100), 40),
        ("log_density", "stiff", (0, 1, 30, 1000), 30),
        ("density", "erlang", (0, 2, 30), 30),
        ("log_survival", "stiff", (0, 2, 30, 2000), 30),
        ("survival", "erlang", (0, 2, 60), 30),
        ("log_cdf", "erlang", (0, 2, 60), 30),
        ("cdf", "hyperexponential", (0, 2, 60), 30),
      ],
      [
        ("log_density", "erlang", (0, 170), 20),
        ("log_density", "kingman", (0, 1, 10, 60), 16),
        ("log_density", "near_equal", (0, 3, 150), 40),
        ("log_cdf", "stiff", (0, 5, 100), 30),
      ],
    )
  )
  def test_every_entry(self, kind, model, starts, count):
    operands, _ = _MODELS[model]
    distinct, chosen, weights = _crowded(operands, starts, count)
    actual = _gradient(kind, operands, distinct[chosen], weights)
    sums: list = [None] * 4
    for n, t in enumerate(distinct):
      mine = weights[chosen == n]
      truth, scales = oracle.gradient(kind, operands._replace(time=t))
      signed = sum((oracle.exact(w) for w in mine), oracle.exact(0.0))
      for i in range(4):
        parts = [signed * x for x in truth[i]]
        sizes = [onp.sum(onp.abs(mine)) * c for c in scales[i]]
        if sums[i] is None:
          sums[i] = (parts, sizes)
        else:
          sums[i] = tuple(
            [x + y for x, y in zip(a, b)]
            for a, b in zip(sums[i], (parts, sizes))
          )
      for k in onp.flatnonzero(chosen == n)[:2]:
        error = oracle.error(
          actual.time[k], oracle.exact(weights[k]) * truth.time[0]
        )
        self.assertLessEqual(error, 1e-12 * abs(weights[k]) * scales.time[0])
    for i, name in enumerate(oracle.Gradient._fields[:4]):
      missed = derivative_checks.shortfall(actual[i], *sums[i], 1e-12)
      self.assertEmpty(missed[:5], f"d/d {name}: {len(missed)} entries miss")

  @parameterized.product(
    kind=("log_density", "survival", "log_cdf"), model=("erlang", "stiff")
  )
  def test_the_order_of_the_times_does_not_matter(self, kind, model):
    operands, _ = _MODELS[model]
    distinct, chosen, weights = _crowded(operands, (0, 1, 7, 40), 200)
    times = distinct[chosen]
    weights[::5] = 0.0
    expected = _gradient(kind, operands, times, weights)
    for order in (
      onp.random.default_rng(1).permutation(_COUNT),
      onp.lexsort((weights, times)),
    ):
      actual = _gradient(kind, operands, times[order], weights[order])
      for x, y in zip(actual[:4], expected[:4], strict=True):
        self.assertEqual(x.tobytes(), y.tobytes())
      self.assertEqual(actual.time.tobytes(), expected.time[order].tobytes())

  @parameterized.parameters(*oracle.KINDS)
  def test_with_one_time_fewer(self, kind):
    operands, _ = _MODELS["erlang"]
    times = onp.random.default_rng(2).uniform(0.0, 20.0, _MANY)
    weights = onp.ones(_MANY)
    weights[-1] = 0.0  # changes nothing but how many there are
    many = _gradient(kind, operands, times, weights)
    fewer = _gradient(kind, operands, times[:-1], weights[:-1])
    for x, y in zip(many[:4], fewer[:4], strict=True):
      onp.testing.assert_allclose(
        x, y, 1e-13, 1e-13 * onp.max(onp.abs(x), initial=0.0)
      )
    self.assertEqual(many.time[-1], 0.0)
    # Near the mode the derivative in time is a small difference.
    onp.testing.assert_allclose(many.time[:-1], fewer.time, 1e-12, 1e-14)

  def test_cotangents_of_any_size(self):
    operands, _ = _MODELS["erlang"]
    distinct, chosen, weights = _crowded(operands, (1, 3), 20)
    weights = 10.0 ** onp.random.default_rng(3).uniform(-250, 250, _COUNT)
    times = distinct[chosen]
    actual = _gradient("log_density", operands, times, weights)
    for k in onp.argsort(weights)[::50]:
      truth, _ = oracle.gradient(
        "log_density", operands._replace(time=times[k])
      )
      ratio = actual.time[k] / weights[k]
      self.assertLessEqual(oracle.error(ratio, truth.time[0]), 1e-12)


if __name__ == "__main__":
  absltest.main()
