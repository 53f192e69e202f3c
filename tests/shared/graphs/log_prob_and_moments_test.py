"""Log densities and moments of a graph's chain in one call."""

import math

from absl.testing import absltest
import numpy as np
import numpy as onp
from scipy import stats

from phasic import distributions as pd
from phasic import graphs as pg
from phasic.internal import static
from phasic.math.calls import gradients
from tests.helpers import test_case


def _stages(discrete=False):
  """Builds three stages in series."""
  return pg.Graph.from_transitions(
    lambda k: [(k + 1 if k < 2 else pg.ABSORBED, {"a": 1.0})],
    0,
    params=("a",),
    discrete=discrete,
  )


class LogProbAndMomentsTest(test_case.TestCase):
  """Compares with closed forms and distributions."""

  def test_erlang(self):
    a, times = 1.5, onp.asarray([0.5, 2.0])
    log_probs, moments = pg.log_prob_and_moments(
      _stages(), {"a": a}, times, order=3
    )
    self.assert_close(log_probs, stats.gamma.logpdf(times, 3, scale=1 / a))
    self.assert_close(moments, [3 / a, 12 / a**2, 60 / a**3])

  def test_rewards(self):
    a, rewards = 1.5, onp.asarray([2.0, 0.0, 0.5])
    _, moments = pg.log_prob_and_moments(_stages(), [a], [1.0], rewards)
    mean, variance = 2.5 / a, 4.25 / a**2
    self.assert_close(moments, [mean, variance + mean**2])

  def test_steps(self):
    a, counts = 0.25, onp.asarray([1, 3, 8])
    log_probs, moments = pg.log_prob_and_moments(
      _stages(discrete=True), [a], counts
    )
    known = stats.nbinom(3, a, loc=3)
    with onp.errstate(divide="ignore"):
      self.assert_close(log_probs, known.logpmf(counts), 1e-11)
    self.assert_close(moments, [known.mean(), known.var() + known.mean() ** 2])

  def test_batches(self):
    graph = pg.models.kingman(5)
    params = onp.asarray([[[0.5], [1.0], [2.0]]])
    for shape in ((4,), (3, 4), (2, 1, 4)):
      times = onp.linspace(0.25, 2.0, math.prod(shape)).reshape(shape)
      log_probs, moments = pg.log_prob_and_moments(
        graph, params, times, order=1
      )
      dist = pd.PhaseType.from_graph(graph, params[..., None, :])
      self.assert_close(log_probs, dist.log_prob(times))
      self.assert_close(moments, self.host(dist.mean())[..., 0][..., None])
      self.assertEqual(onp.shape(self.host(moments)), (1, 3, 1))

  def test_a_graph_without_parameters(self):
    graph = pg.Graph.from_transitions(lambda _: [(pg.ABSORBED, 2.0)], 0)
    times = onp.asarray([1.0], onp.float32)
    log_probs, moments = pg.log_prob_and_moments(graph, None, times)
    self.assertEqual(static.dtype_name(log_probs), "float32")
    self.assertEqual(static.dtype_name(moments), "float32")
    self.assert_close(log_probs, [math.log(2.0) - 2.0], 1e-6)
    self.assert_close(moments, [0.5, 0.5], 1e-6)

  def test_gradients(self):
    graph = _stages()
    a, t, r = 1.5, [0.5, 2.0], [2.0, 0.0, 0.5]

    def total(params, times, rewards):
      log_probs, moments = pg.log_prob_and_moments(
        graph, params, times, rewards
      )
      return np.sum(log_probs) + np.sum(moments)

    arrays = (np.asarray(onp.asarray(x)) for x in ([a], t, r))
    _, gradient = gradients.value_and_gradient(total, *arrays)
    # log f = 3 log a + 2 log t - a t; E Y + E Y^2 = m / a + q / a^2, where m is
    # the sum of rewards and q that of their squares, plus m^2.
    m, q = 2.5, 4.25 + 2.5**2
    self.assert_close(
      gradient[0], [6 / a - sum(t) - m / a**2 - 2 * q / a**3], 1e-11
    )
    self.assert_close(gradient[1], [2 / x - a for x in t], 1e-11)
    self.assert_close(
      gradient[2], [1 / a + 2 * (x + m) / a**2 for x in r], 1e-11
    )

  def test_errors(self):
    graph = _stages()
    for arguments, error, message in (
      ((None, [1.0], [1.0]), TypeError, "graph is NoneType"),
      ((graph, [1.0], 1.0), ValueError, "values is a scalar"),
      ((graph, {"b": 1.0}, [1.0]), ValueError, "unknown 'b'"),
      ((graph, [1.0], [1.0], [1.0, 2.0]), ValueError, "rewards has shape"),
      ((graph, [1.0], [1.0], None, 0), ValueError, "order is 0"),
      ((graph, [1.0], [True]), TypeError, "values has dtype bool"),
    ):
      with self.assertRaisesRegex(error, message):
        pg.log_prob_and_moments(*arguments)
    _, moments = pg.log_prob_and_moments(graph, [1.0], [1.0], [1.0, -1.0, 0.0])
    self.assert_close(moments, [math.nan, math.nan])


if __name__ == "__main__":
  absltest.main()
