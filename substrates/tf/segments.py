"""Segment sums: sums of entries with equal indices."""

from __future__ import annotations

import tensorflow as tf

from phasic.substrates.tf.internal.arrays import Array
from phasic.substrates.tf.internal.arrays import ArrayLike


def segment_sum(x: ArrayLike, indices: ArrayLike, size: int) -> Array:
  """Computes, for each i < size, the sum of the entries with index i."""
  x = tf.convert_to_tensor(x)
  rank = len(x.shape)
  columns = tf.transpose(x, [rank - 1, *range(rank - 1)])
  sums = tf.math.unsorted_segment_sum(columns, indices, size)
  return tf.transpose(sums, [*range(1, rank), 0])
