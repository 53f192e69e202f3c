"""Maximum likelihood by gradients of TensorFlow."""

import tensorflow as tf

from phasic.substrates import tf as ph


def main() -> dict[str, float]:
  """Returns a rate after steps of gradient descent; it is 1 / mean."""
  times = tf.constant([0.25, 0.5, 0.75], tf.float64)
  log_rate = tf.Variable(0.0, dtype=tf.float64)

  @tf.function  # type: ignore[untyped-decorator]
  def step() -> None:
    with tf.GradientTape() as tape:
      dist = ph.distributions.Erlang(1, tf.exp(log_rate))
      loss = -tf.reduce_mean(dist.log_prob(times))
    log_rate.assign_sub(tape.gradient(loss, log_rate))

  for _ in range(60):
    step()
  return {"rate": float(tf.exp(log_rate))}


if __name__ == "__main__":
  print(main())
