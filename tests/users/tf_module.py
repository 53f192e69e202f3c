"""A distribution whose parameter is a variable."""

import tensorflow as tf

from phasic.substrates import tf as ph


class Queue(tf.Module):  # type: ignore[misc]
  """Waiting times with a trainable rate."""

  def __init__(self, rate: float) -> None:
    super().__init__()
    self.rate = tf.Variable(rate, dtype=tf.float64)
    self.dist = ph.distributions.Erlang(1, self.rate)

  def mean(self) -> float:
    """Returns the mean, 1 / rate."""
    return float(self.dist.mean())


def main() -> dict[str, float]:
  """Returns the mean before and after a change of the variable."""
  queue = Queue(2.0)
  before = queue.mean()
  queue.rate.assign(4.0)
  return {"before": before, "after": queue.mean()}


if __name__ == "__main__":
  print(main())
