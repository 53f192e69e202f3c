"""Most likely paths and smoothed probabilities of states, in NumPy."""

import numpy as np


def smoothed(start: np.ndarray, matrices: np.ndarray) -> np.ndarray:
  """Returns the probability of each state in each row, given all rows.

  Args:
    start: `[p]` weights in the first row.
    matrices: `[r - 1, p, p]`, as those of `likelihood.steps`.

  Returns:
    `[r, p]`.
  """
  before, after = [start], [np.ones(len(start))]
  for matrix in matrices:
    before.append(before[-1] @ matrix)
  for matrix in matrices[::-1]:
    after.append(matrix @ after[-1])
  weights = np.array(before) * np.array(after[::-1])
  return weights / weights.sum(axis=1, keepdims=True)


def most_likely(start: np.ndarray, matrices: np.ndarray) -> list[int]:
  """Returns the path of states in the rows that has the greatest weight."""
  weights, choices = start, []
  for matrix in matrices:
    products = weights[:, None] * matrix
    choices.append(np.argmax(products, axis=0))
    weights = np.max(products, axis=0)
  path = [int(np.argmax(weights))]
  for choice in choices[::-1]:
    path.append(int(choice[path[-1]]))
  return path[::-1]
