"""Segment sums: sums of entries with equal indices."""

from typing import Any

import tensorflow as tf


def segment_sum(x: Any, indices: Any, size: int) -> Any:
  """Computes, for each i < size, the sum of the entries with index i."""
  x = tf.convert_to_tensor(x)
  rank = len(x.shape)
  columns = tf.transpose(x, [rank - 1, *range(rank - 1)])
  sums = tf.math.unsorted_segment_sum(columns, indices, size)
  return tf.transpose(sums, [*range(1, rank), 0])
