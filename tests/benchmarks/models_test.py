"""The benchmark's state spaces, against what is known about the models."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import scipy.stats

from benchmarks import models


class ExploreTest(parameterized.TestCase):
  # The numbers of partitions of n, without the absorbing one.
  @parameterized.parameters((2, 1), (3, 2), (5, 6), (10, 41), (20, 626))
  def test_kingman_has_a_state_for_each_partition(self, lineages, states):
    model = models.kingman(lineages)
    self.assertLen(model.states, states)
    self.assertLen(set(model.states), states)
    for state in model.states:
      sizes = onp.arange(1, lineages + 1)
      self.assertEqual(int(sizes @ onp.array(state)), lineages)

  def test_kingman_at_equal_rates_is_the_coalescent(self):
    for lineages in (2, 5, 10):
      model = models.kingman(lineages)
      theta = onp.ones(2)
      subgenerator, exits = model.at(theta)
      blocks = onp.array([sum(state) for state in model.states])
      onp.testing.assert_allclose(
        -onp.diag(subgenerator), blocks * (blocks - 1) / 2
      )
      onp.testing.assert_array_equal(exits, blocks == 2)
      mean = model.initial_probs @ onp.linalg.solve(
        -subgenerator, onp.ones(len(blocks))
      )
      self.assertAlmostEqual(mean, 2 * (1 - 1 / lineages))

  def test_the_second_rate_is_that_of_larger_blocks(self):
    model = models.kingman(4)
    start = model.states.index((4, 0, 0, 0))
    pair = model.states.index((2, 1, 0, 0))
    two_pairs = model.states.index((0, 2, 0, 0))
    triple = model.states.index((1, 0, 1, 0))
    onp.testing.assert_array_equal(model.rates[start, pair], [6, 0])
    onp.testing.assert_array_equal(model.rates[pair, two_pairs], [1, 0])
    onp.testing.assert_array_equal(model.rates[pair, triple], [0, 2])
    onp.testing.assert_array_equal(model.exits[triple], [0, 1])

  def test_erlang(self):
    model = models.erlang(10)
    times = model.times()
    expected = scipy.stats.gamma(10.0)
    self.assertAlmostEqual(times[-1], expected.isf(1e-3))
    for t in times[::20]:
      self.assertAlmostEqual(model.survival(t), expected.sf(t))

  def test_dense(self):
    model = models.dense(50)
    subgenerator, exits = model.at(model.theta)
    self.assertEqual(onp.count_nonzero(subgenerator), 2500)
    onp.testing.assert_allclose(subgenerator.sum(axis=1), -exits)

  def test_birth_death_is_stiff(self):
    model = models.birth_death(100)
    self.assertLen(model.states, 100)
    ups = onp.append(onp.diag(model.rates[:, :, 0], 1), model.exits[-1, 0])
    onp.testing.assert_allclose(ups, onp.geomspace(1e3, 1e-2, 100))
    downs = onp.diag(model.rates[:, :, 1], -1)
    onp.testing.assert_allclose(downs, ups[1:] / 4.0)

  @parameterized.product(degree=(2, 8, 32), parameters=(1, 3))
  def test_circulant(self, degree, parameters):
    model = models.circulant(256, degree, parameters)
    self.assertLen(model.states, 256)
    present = onp.any(model.rates != 0.0, axis=2)
    onp.testing.assert_array_equal(present.sum(axis=1), degree)
    onp.testing.assert_array_equal(onp.diag(present), False)
    self.assertTrue(onp.all(onp.any(model.rates != 0.0, axis=(0, 1))))
    subgenerator, _ = model.at(model.theta)
    leaving = -onp.diag(subgenerator)
    self.assertTrue(onp.all((leaving > 0.5) & (leaving < 1.0)))

  def test_the_large_model_has_three_edges_a_phase(self):
    model = models.large(30)
    rates = model.coefficients @ model.theta
    self.assertLen(rates, 90)
    leaving = onp.bincount(model.sources, rates, 30)
    self.assertBetween(leaving.max(), model.rate / 2, model.rate)
    pairs = set(zip(model.sources.tolist(), model.targets.tolist()))
    self.assertLen(pairs, 90)
    self.assertEqual(int(onp.sum(model.targets == 30)), 30)

  def test_thetas_are_at_most_the_models(self):
    model = models.kingman()
    thetas = models.thetas(model, 96)
    self.assertEqual(thetas.shape, (96, 2))
    self.assertTrue(onp.all((thetas > 0.0) & (thetas <= model.theta)))

  @parameterized.parameters(models.erlang, models.kingman, models.dense)
  def test_times(self, make):
    model = make()
    times = model.times(100)
    self.assertLen(times, 100)
    onp.testing.assert_allclose(onp.diff(times), times[0], rtol=1e-9)
    self.assertAlmostEqual(model.survival(times[-1]), 1e-3, places=9)


if __name__ == "__main__":
  absltest.main()
