"""Far tails, whose sequences may follow from earlier steps, and some that
must not."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from tests.accuracy import cases
from tests.accuracy import kernel_calls
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle


def _model(start, rates, exits):
  start, rates, exits = (onp.array(x, float) for x in (start, rates, exits))
  subgenerator = rates - onp.diag(rates.sum(axis=1) + exits)
  return oracle.Operands(start, subgenerator, exits, onp.float64(0.0), 1.0)


def _kingman(lineages=10):
  """Kingman's coalescent: the number of lineages."""
  blocks = onp.arange(lineages, 1, -1)
  return models.hypoexponential(blocks * (blocks - 1) / 2)


def _hyperexponential(probs, rates):
  return _model(probs, onp.zeros((len(rates), len(rates))), rates)


def _metastable(coupling):
  """Two pairs of states that hardly communicate, the second one slower."""
  rates = onp.zeros((4, 4))
  rates[0, 1] = rates[1, 0] = 1.0
  rates[2, 3] = rates[3, 2] = 0.5
  rates[1, 2] = coupling
  return _model([0.0, 1.0, 0.0, 0.0], rates, [0.25, 0.0, 0.0, 0.125])


def _periodic(exits):
  """All rates are one: each step leads on, and the chain has a period."""
  p = len(exits)
  rates = onp.roll(onp.diag(1.0 - onp.array(exits)), 1, axis=1)
  start = onp.arange(1, p + 1) / onp.sum(onp.arange(1, p + 1))
  return _model(start, rates, exits)


def _queue(phases=12):
  """Drifts away from its exit, so that its states differ much in size."""
  rates = onp.diag(onp.full(phases - 1, 0.25), 1)
  rates += onp.diag(onp.full(phases - 1, 0.5), -1)
  return _model(onp.eye(phases)[0], rates, 0.25 * onp.eye(phases)[-1])


MODELS = {
  "kingman": (_kingman(), (17.0, 20.0, 25.0, 50.0, 100.0, 250.0, 460.0)),
  "cyclic": (models.cyclic(), (400.0, 700.0, 1000.0)),
  "queue": (_queue(), (1200.0, 2000.0, 2e4, 4e5)),
  "rare_and_slow": (
    _hyperexponential([1.0, 1e-20], [1.0, 0.1]),
    (1.0, 100.0, 500.0, 1500.0, 4000.0),
  ),
  "rare_and_slow_late": (
    # The crossing is at the 94,000th step.
    _hyperexponential([0.5, 0.5, 1e-20], [1.0, 2.0**-10, 2.0**-11]),
    (2e3, 3e4, 8e4, 9.4e4, 1.1e5, 2.5e5, 6e5),
  ),
  "rare_and_hardly_slower": (
    _hyperexponential(
      [0.5, 0.5 - 1e-9, 1e-9], [1.0, 2.0**-10, 2.0**-10 - 2.0**-20]
    ),
    (2e3, 3e4, 2e5, 6e5),
  ),
  "erlang": (models.erlang(20, 0.75), (1500.0, 850.0)),
  "erlang_one_rate": (models.erlang(20), (600.0, 1100.0)),
  "near_defective": (models.near_equal(), (600.0, 735.0)),
  "slow_and_near_defective": (
    models.hypoexponential([1.0, 2.0**-12, 2.0**-12 + 2.0**-35]),
    (2e3, 2e4, 2e5, 1e6),
  ),
  "metastable": (_metastable(1e-12), (600.0, 800.0, 2000.0, 4000.0)),
  "metastable_2": (_metastable(2.0**-20), (600.0, 2000.0, 4000.0)),
  "periodic": (_periodic([2.0**-10, 2.0**-12]), (1300.0, 2e4, 2e5)),
  "period_three": (_periodic([0.0, 0.0, 2.0**-8]), (1300.0, 2e4, 2e5)),
  "period_seven": (
    _periodic([0.0, 0.0, 2.0**-8, 0.0, 0.0, 0.5, 0.0]),
    (1300.0, 4000.0),
  ),
  "never_absorbed": (
    _model([1.0, 0.0], [[0.0, 1.0], [0.25, 0.0]], [0.0, 0.0]),
    (3e3, 1e5),
  ),
}


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class TailClosureTest(parameterized.TestCase):
  @parameterized.product(
    model=tuple(MODELS), kind=("log_density", "log_survival", "log_cdf")
  )
  def test_values(self, model, kind):
    operands, times = MODELS[model]
    if model == "never_absorbed" and kind != "log_survival":
      return
    times = onp.array(times)
    values = kernel_calls.directional(kind, operands._replace(time=times))
    messages = kernel_calls.status(
      kind, kernel_calls.inputs(operands._replace(time=times))
    )
    for t, value, message in zip(times, values, messages):
      truth, _ = oracle.directional(kind, operands._replace(time=t))
      if onp.isnan(value):  # Given up, where the value is tiny.
        self.assertIn("below the smallest normal number", message)
        self.assertLess(float(truth.mid()), -600.0)
        continue
      bound = cases.log_tolerance(float(truth.mid()))
      self.assertLessEqual(oracle.error(value, truth), bound, (t, value, truth))

  @parameterized.parameters(200, 300)
  def test_large_models_of_one_exit_rate(self, phases):
    # However it moves about, it leaves at rate 1/128: an exponential.
    rng = onp.random.default_rng(phases)
    rates = rng.uniform(0.1, 1.0, (phases, phases)) / phases
    onp.fill_diagonal(rates, 0.0)
    start = onp.full(phases, 1.0 / phases)
    operands = _model(start, rates, onp.full(phases, 2.0**-7))
    times = 2.0 ** onp.arange(10, 22) * 1.375
    for kind, first in (
      ("log_density", -7 * onp.log(2.0)),
      ("log_survival", 0),
    ):
      together = kernel_calls.directional(kind, operands._replace(time=times))
      for t, value in zip(times, together):
        # With what the guide says that steps may add.
        tolerance = max(1e-12, 3e-17 * t) + 8 * onp.spacing(t / 128)
        self.assertLessEqual(abs(value - (first - t / 128)), tolerance, t)
        alone = kernel_calls.directional(kind, operands._replace(time=t))
        self.assertEqual(alone, value)

  @parameterized.product(
    model=("kingman", "cyclic", "periodic", "rare_and_slow_late"),
    kind=oracle.KINDS,
  )
  def test_other_times_do_not_matter(self, model, kind):
    operands, times = MODELS[model]
    times = onp.array(times[::-1])
    together = kernel_calls.directional(kind, operands._replace(time=times))
    for t, value in zip(times, together):
      alone = kernel_calls.directional(kind, operands._replace(time=t))
      self.assertEqual(float(alone[0]), float(value))


if __name__ == "__main__":
  absltest.main()
