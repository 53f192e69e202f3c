"""Tests of the demo's own functions."""

import os
import sys

from absl.testing import absltest
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from demo import coxian
from demo import picture
from demo import story
from demo import uncertainty


def _assess(information, scores, slopes=None, at_zero=(), at_top=()):
  k = len(information)
  zero, top = np.zeros(k, bool), np.zeros(k, bool)
  zero[list(at_zero)] = True
  top[list(at_top)] = True
  slopes = np.zeros(k) if slopes is None else np.asarray(slopes)
  return uncertainty.assess(information, scores, slopes, zero, top)


class UncertaintyTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.scores = np.random.default_rng(0).normal(size=(50, 3))

  def test_positive_definite_information_gives_its_inverse(self):
    information = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])
    known = _assess(information, self.scores)
    self.assertEqual(known.statuses, [uncertainty.IDENTIFIED] * 3)
    self.assertEqual(known.num_flat, 0)
    np.testing.assert_allclose(
      known.covariance, np.linalg.inv(information), rtol=1e-12
    )

  def test_flat_direction_of_the_hessian(self):
    direction = np.array([1.0, -1.0, 0.0]) / np.sqrt(2)
    information = np.diag([5.0, 5.0, 2.0])
    information -= 5.0 * np.outer(direction, direction)
    known = _assess(information, self.scores)
    none, fine = uncertainty.NOT_IDENTIFIED, uncertainty.IDENTIFIED
    self.assertEqual(known.statuses, [none, none, fine])
    self.assertEqual(known.num_flat, 1)
    np.testing.assert_allclose(known.standard_errors[2], np.sqrt(0.5))
    self.assertTrue(np.isnan(known.standard_errors[:2]).all())

  def test_negative_bend_is_flat(self):
    known = _assess(np.diag([3.0, -1.0, 2.0]), self.scores)
    self.assertEqual(known.statuses[1], uncertainty.NOT_IDENTIFIED)
    self.assertEqual(known.statuses.count(uncertainty.IDENTIFIED), 2)

  def test_flat_scores_though_the_hessian_bends(self):
    scores = self.scores
    scores[:, 1] = -scores[:, 0]
    known = _assess(np.diag([3.0, 3.0, 2.0]), scores)
    none, fine = uncertainty.NOT_IDENTIFIED, uncertainty.IDENTIFIED
    self.assertEqual(known.statuses, [none, none, fine])

  def test_boundary(self):
    information = np.diag([3.0, 0.0, 2.0])
    known = _assess(information, self.scores, [0, -1.5, 0], at_zero=[1])
    fine = uncertainty.IDENTIFIED
    self.assertEqual(known.statuses, [fine, uncertainty.ZERO, fine])
    known = _assess(information, self.scores, at_zero=[1])
    self.assertEqual(known.statuses[1], uncertainty.NOT_IDENTIFIED)
    known = _assess(information, self.scores, at_top=[1])
    self.assertEqual(known.statuses[1], uncertainty.DIVERGING)

  def test_everything_on_the_boundary(self):
    known = _assess(np.zeros((1, 1)), np.zeros((4, 1)), [-1.0], at_zero=[0])
    self.assertEqual(known.statuses, [uncertainty.ZERO])
    self.assertEqual(known.num_flat, 0)


class CoxianTest(absltest.TestCase):
  def test_canonical_keeps_the_distribution(self):
    rng = np.random.default_rng(1)
    times = np.array([0.01, 0.3, 1.0, 4.0, 9.0])
    for p in (1, 2, 3, 4):
      rates = rng.uniform(0.1, 3.0, size=2 * p - 1)
      ordered = coxian.canonical(rates)
      total = np.append(ordered[: p - 1], 0.0) + ordered[p - 1 :]
      self.assertTrue((np.diff(total) <= 1e-12).all(), msg=total)
      np.testing.assert_allclose(
        coxian.log_densities(np.log(ordered), times),
        coxian.log_densities(np.log(rates), times),
        rtol=1e-10,
      )
      np.testing.assert_allclose(coxian.canonical(ordered), ordered)


class DataTest(absltest.TestCase):
  def test_strikes(self):
    here = os.path.dirname(os.path.abspath(__file__))
    times = story.read(os.path.join(here, "data", "strikes.csv"))
    self.assertLen(times, 62)
    self.assertEqual((times.min(), times.max()), (1, 216))
    self.assertEqual(times.sum(), 2645)

  def test_kaplan_meier(self):
    at, share, error = picture.kaplan_meier(np.array([1.0, 2.0, 2.0, 5.0]))
    np.testing.assert_array_equal(at, [1, 2, 5])
    np.testing.assert_allclose(share, [0.75, 0.25, 0.0])
    np.testing.assert_allclose(error**2, share * (1 - share) / 4)


if __name__ == "__main__":
  absltest.main()
