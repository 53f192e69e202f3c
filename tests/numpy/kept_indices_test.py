"""What is computed from indices of edges is kept by their values."""

from absl.testing import absltest
import numpy as np

from phasic.substrates.numpy.math.numeric import kept_indices

_CALLS = []


def _reversed(sources, targets, shift):
  _CALLS.append(shift)
  return targets + shift, sources + shift


def _found(sources, targets, shift):
  first, second = kept_indices.evaluate(_reversed, sources, targets, shift)
  return first.tolist(), second.tolist()


class KeptIndicesTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    _CALLS.clear()

  def test_equal_indices_are_computed_once(self):
    for _ in range(3):
      ends = np.asarray([0, 1], np.int32), np.asarray([11, 12], np.int32)
      self.assertEqual(_found(*ends, 1), ([12, 13], [1, 2]))
    self.assertEqual(_CALLS, [1])
    self.assertEqual(_found(*ends, 2), ([13, 14], [2, 3]))
    self.assertEqual(_CALLS, [1, 2])

  def test_indices_that_change_in_place_are_others(self):
    ends = np.asarray([0, 1], np.int32), np.asarray([21, 22], np.int32)
    self.assertEqual(_found(*ends, 0), ([21, 22], [0, 1]))
    ends[0][0], ends[1][1] = 5, 7
    self.assertEqual(_found(*ends, 0), ([21, 7], [5, 1]))

  def test_results_cannot_be_overwritten(self):
    ends = np.asarray([0], np.int32), np.asarray([31], np.int32)
    first, _ = kept_indices.evaluate(_reversed, *ends, 0)
    with self.assertRaises(ValueError):
      first[0] = 3
    self.assertEqual(_found(*ends, 0), ([31], [0]))

  def test_many_indices_and_other_dtypes_are_not_kept(self):
    many = np.zeros(5000, np.int32)
    wide = np.asarray([0]), np.asarray([41])
    for ends in ((many, many), wide):
      _CALLS.clear()
      for _ in range(2):
        kept_indices.evaluate(_reversed, *ends, 0)
      self.assertEqual(_CALLS, [0, 0])

  def test_the_number_of_results_is_bounded(self):
    for n in range(1000):
      ends = np.asarray([n], np.int32), np.asarray([n + 1], np.int32)
      kept_indices.evaluate(_reversed, *ends, 0)
    self.assertLessEqual(kept_indices._computed.cache_info().currsize, 128)
    self.assertLen(_CALLS, 1000)
    kept_indices.evaluate(
      _reversed, *(np.asarray([k], np.int32) for k in (0, 1)), 0
    )
    self.assertLen(_CALLS, 1001)


if __name__ == "__main__":
  absltest.main()
