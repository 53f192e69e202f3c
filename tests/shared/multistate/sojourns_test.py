"""States of several phases: times in them, likelihoods, and fits."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
from scipy import integrate
from scipy import linalg
from scipy import stats

from phasic import distributions as pd
from phasic import inference
from phasic import multistate
from tests.helpers import test_case

_TARGETS = {"well": ["ill"], "ill": ["dead", "cured"]}
_RATES = {"well -> ill": 0.4, "ill -> dead": 0.5, "ill -> cured": 0.3}


def _panel(rows, **options):
  ids, times, states = zip(*rows, strict=True)
  table = {"id": ids, "t": times, "state": states}
  return multistate.PanelData.from_table(
    table, subject="id", time="t", state="state", **options
  )


def _log_likelihoods(model, data):
  """Computes the log likelihoods of subjects at the given rates."""
  model, layout = model.with_data(data)
  terms = model.log_likelihood_terms(model.parameters, layout)
  return onp.asarray(terms, onp.float64)


def _model(sojourn, rates=None):
  return multistate.MultiState(
    multistate.Intensities(
      _TARGETS, rates=rates or _RATES, sojourns={"ill": sojourn}
    )
  )


def _erlang(k, mean):
  return stats.gamma(k, scale=mean / k)


def _coxian_matrix():
  """Returns three phases; each is left for "dead" and "cured"."""
  s = onp.diag([-1.3, -1.2, -0.9])
  s[0, 1], s[1, 2] = 0.8, 0.5
  deaths, cures = onp.asarray([0.3, 0.4, 0.2]), onp.asarray([0.2, 0.3, 0.7])
  return s, deaths, cures


_COXIAN_RATES = {
  "well -> ill": 0.4,
  "ill[1] -> ill[2]": 0.8,
  "ill[2] -> ill[3]": 0.5,
  "ill[1] -> dead": 0.3,
  "ill[2] -> dead": 0.4,
  "ill[3] -> dead": 0.2,
  "ill[1] -> cured": 0.2,
  "ill[2] -> cured": 0.3,
  "ill[3] -> cured": 0.7,
}


def _coxian(t, ends):
  s, *_ = _coxian_matrix()
  return float((linalg.expm(s * t) @ ends)[0])


def _integral(f, low, high):
  return integrate.quad(f, low, high, epsabs=1e-13, epsrel=1e-12)[0]


class LikelihoodsTest(test_case.TestCase):
  """Tests log likelihoods by integrals over the time of the onset.

  Subjects are seen, in turn: "ill" at 1 and at 2, and dead at exactly 3; "ill"
  at 1 and cured at 2.5; alive at 2.
  """

  def _check(self, model, death, cure, survival):
    rows = [(1, 0.0, "well"), (1, 1.0, "ill"), (1, 2.0, "ill")]
    rows += [(1, 3.0, "dead"), (2, 0.0, "well"), (2, 1.0, "ill")]
    rows += [(2, 2.5, "cured"), (3, 0.0, "well"), (3, 2.0, "alive")]
    rows += [(4, 0.0, "ill"), (4, 0.7, "ill"), (4, 1.1, "dead")]
    data = _panel(rows, exact=["dead"], censored={"alive": ["well", "ill"]})

    def onset(f, low, high):
      return _integral(lambda u: 0.4 * math.exp(-0.4 * u) * f(u), low, high)

    cures = onset(lambda u: _integral(cure, 1.0 - u, 2.5 - u), 0.0, 1.0)
    wanted = [
      onset(lambda u: death(3.0 - u), 0.0, 1.0),
      cures,
      math.exp(-0.8) + onset(lambda u: survival(2.0 - u), 0.0, 2.0),
      death(1.1),
    ]
    onp.testing.assert_allclose(
      _log_likelihoods(model, data), onp.log(wanted), rtol=1e-9
    )

  def _check_paths(self, model, death, cure, survival):
    """Transitions at known times."""
    rows = [(1, 0.0, "well"), (1, 0.5, "ill"), (1, 2.0, "dead")]
    rows += [(2, 1.0, "well"), (2, 1.5, "ill"), (2, 2.5, "ill")]
    rows += [(2, 3.5, "cured"), (3, 0.0, "ill"), (3, 2.0, "ill")]
    data = _panel(rows, exact_times=True)
    wanted = [
      0.4 * math.exp(-0.2) * death(1.5),
      0.4 * math.exp(-0.2) * cure(2.0),
      survival(2.0),
    ]
    onp.testing.assert_allclose(
      _log_likelihoods(model, data), onp.log(wanted), rtol=1e-10
    )

  @parameterized.named_parameters(
    ("erlang", lambda: pd.Erlang(3, 7.0), 3),
    ("gamma", lambda: multistate.gamma(4), 4),
    ("exponential", lambda: multistate.weibull(1.0), 1),
  )
  def test_distributions(self, make, k):
    """The time has the shape that was given; the target does not depend on it."""
    time = _erlang(k, 1.0 / 0.8)
    functions = (
      lambda t: time.pdf(t) * 0.625,
      lambda t: time.pdf(t) * 0.375,
      time.sf,
    )
    model = _model(make())
    self._check(model, *functions)
    self._check_paths(model, *functions)

  def test_coxian(self):
    """Each phase has rates of its own."""
    _, deaths, cures = _coxian_matrix()
    functions = (
      lambda t: _coxian(t, deaths),
      lambda t: _coxian(t, cures),
      lambda t: _coxian(t, onp.ones(3)),
    )
    model = _model(3, _COXIAN_RATES)
    self._check(model, *functions)
    self._check_paths(model, *functions)

  def test_skipped_phases(self):
    """A chain with several first phases, entered from a state and from phases."""
    dist = multistate.weibull(1.5)
    model = multistate.MultiState(
      multistate.Intensities(
        {"well": ["ill"], "ill": ["well", "dead"]},
        rates={"well -> ill": 0.4, "ill -> well": 0.6, "ill -> dead": 0.2},
        sojourns={"ill": dist, "well": pd.Erlang(2, 1.0)},
      )
    )
    rows = [(1, 0.0, "well"), (1, 1.0, "ill"), (1, 2.0, "well")]
    rows += [(1, 4.0, "ill"), (1, 5.0, "dead")]
    entry = onp.asarray(dist.initial_probs, onp.float64)
    chain = dist.as_phase_type()
    s = onp.asarray(chain.subgenerator, onp.float64)
    exits, k = -onp.sum(s, axis=1), len(entry)
    q = onp.zeros((k + 3, k + 3))
    q[0, 1] = 0.8
    q[1, 2 : k + 2] = 0.8 * entry
    q[2 : k + 2, 2 : k + 2] = 0.8 * (s - onp.diag(onp.diag(s)))
    q[2 : k + 2, 0] = 0.6 * exits
    q[2 : k + 2, k + 2] = 0.2 * exits
    deaths = onp.zeros_like(q)
    deaths[:, -1] = q[:, -1]
    q = q - onp.diag(onp.sum(q, axis=1))
    at = onp.eye(k + 3)[0]
    in_well = onp.arange(k + 3) < 2
    in_ill = (onp.arange(k + 3) > 1) & (onp.arange(k + 3) < k + 2)
    for length, mask in ((1.0, in_ill), (1.0, in_well), (2.0, in_ill)):
      at = (at @ linalg.expm(q * length)) * mask
    wanted = onp.log(at @ linalg.expm(q) @ deaths @ onp.ones(k + 3))
    data = _panel(rows, exact=["dead"])
    onp.testing.assert_allclose(
      _log_likelihoods(model, data), [wanted], rtol=1e-10
    )


class ShapesTest(test_case.TestCase):
  """Tests moments of the shapes, and what they refuse."""

  @parameterized.named_parameters(
    ("weibull", multistate.weibull, stats.weibull_min, (0.2, 4.5)),
    ("gamma", multistate.gamma, stats.gamma, (0.05, 20.0)),
  )
  def test_moments(self, make, family, ends):
    """Three moments are those of the family, of mean one."""
    for k in (*ends, 0.7, 1.1, 1.5, 2.0, 2.001, 3.3):
      dist, law = make(k), family(k)
      mean = law.moment(1)
      for order in (1, 2, 3):
        self.assert_close(
          dist.moment(order), law.moment(order) / mean**order, rtol=1e-11
        )
      self.assertLessEqual(
        onp.shape(dist.as_phase_type().initial_probs)[-1], 20
      )

  def test_refusals(self):
    """Both name the range, and the way out."""
    with self.assertRaisesRegex(ValueError, "4.6: it must be from 0.2 to 4.5"):
      multistate.weibull(4.6)
    with self.assertRaisesRegex(ValueError, "match_moments makes chains"):
      multistate.gamma(math.nan)
    with self.assertRaisesRegex(TypeError, "it must be a number"):
      multistate.gamma("2")
    zero = pd.PhaseType([0.5, 0.2], [[-1.0, 1.0], [0.0, -1.0]])
    with self.assertRaisesRegex(ValueError, "mass at zero"):
      multistate.Intensities(_TARGETS, sojourns={"ill": zero})


class FitsTest(test_case.TestCase):
  """Tests that fits find the rates of simulated semi-Markov data."""

  def test_erlang(self):
    """Visits each half year, and known times of death."""
    random = onp.random.default_rng(7)
    rows = []
    for subject in range(400):
      onset = random.exponential(1 / 0.4)
      end = onset + random.gamma(3, 1 / (3 * 0.8))
      dies = random.uniform() < 0.625
      for t in onp.arange(0.0, 6.0, 0.5):
        if end > t:
          rows.append((subject, t, "well" if onset > t else "ill"))
      if end < 5.5 and dies:
        rows.append((subject, end, "dead"))
      elif end < 5.5:
        rows.append((subject, math.ceil(end * 2) / 2, "cured"))
    data = _panel(rows, exact=["dead"])
    model = multistate.MultiState(
      multistate.Intensities(_TARGETS, sojourns={"ill": pd.Erlang(3, 1.0)})
    )
    fit = inference.fit_mle(model, data)
    self.assertTrue(fit.record.converged)
    rates = onp.asarray(list(_RATES.values()))
    errors = self.host(fit.standard_errors["rates"])
    apart = onp.abs(self.host(fit.parameters["rates"]) - rates) / errors
    self.assertLess(onp.max(apart), 3.0)
    self.assertLess(onp.max(errors / rates), 0.1)
    exponential = inference.fit_mle(multistate.MultiState(_TARGETS), data)
    self.assertGreater(fit.log_likelihood, exponential.log_likelihood + 20.0)


if __name__ == "__main__":
  absltest.main()
