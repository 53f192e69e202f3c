"""Seeds of NumPy's random numbers that are derived from one another."""

from absl.testing import absltest
import numpy as np

from phasic.substrates.numpy.internal import random


def _numbers(seed):
  return tuple(random.uniform(seed, (4,), "float64").tolist())


class SeedsTest(absltest.TestCase):
  def test_long_chains_of_seeds(self):
    seed = random.sanitize_seed(7)
    first = seed
    found = set()
    for step in range(200):
      own, seed = random.split_seed(seed)
      found.update([_numbers(own), _numbers(random.fold_in(own, step))])
      # The cost of a seed does not grow along the chain.
      self.assertLess(len(seed.spawn_key), 20)
    self.assertLen(found, 400)
    for _ in range(200):
      _, first = random.split_seed(first)
    self.assertEqual(_numbers(first), _numbers(seed))

  def test_early_seeds_are_those_of_numpy(self):
    seed = random.sanitize_seed(7)
    for child in np.random.SeedSequence(7).spawn(3):
      own = random.split_seed(seed, 3)[child.spawn_key[0]]
      self.assertEqual(
        _numbers(own), tuple(np.random.default_rng(child).random(4))
      )

  def test_another_first_seed(self):
    chains = []
    for first in (1, 2):
      seed = random.sanitize_seed(first)
      for _ in range(40):
        _, seed = random.split_seed(seed)
      chains.append(_numbers(seed))
    self.assertNotEqual(*chains)


if __name__ == "__main__":
  absltest.main()
