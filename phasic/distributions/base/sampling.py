"""Samples of a distribution."""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.distributions.base import methods
from phasic.internal import random
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import Result
from phasic.internal.arrays import Seed
from phasic.internal.arrays import ShapeLike

_MOST_SAMPLES = 2**40


class Sampling(methods.Methods):
  """Methods that draw samples, which a seed determines in a substrate."""

  def sample(
    self, sample_shape: ShapeLike = (), seed: Seed | None = None
  ) -> Result:
    """Returns samples, the same ones for the same seed.

    Args:
      sample_shape: an int or a tuple of ints.
      seed: for NumPy an int, SeedSequence or Generator, for JAX a key, for
        TensorFlow an int or a pair of ints.

    Returns:
      An array of shape sample_shape + batch_shape + event_shape.

    Raises:
      TypeError: the seed is None or not of such a type, or sample_shape has
        something else than integers.
      ValueError: sample_shape has a negative size.
    """
    own = random.sanitize_seed(seed, salt=type(self).__name__)
    shape = checked_shape(sample_shape)
    n = 1
    for d in shape:
      n = n * d
    samples = self._sample_n(n, own)
    return structures.as_result(
      np.reshape(samples, (*shape, *self._batch_shape(), *self._event_shape()))
    )

  def sample_and_log_prob(
    self, sample_shape: ShapeLike = (), seed: Seed | None = None
  ) -> tuple[Result, Result]:
    """Draws samples, and computes `log_prob` at them.

    Arguments and errors are as for `sample`; the second array has no event
    dimensions.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0], [[-2.0]])
      >>> x, log_prob = dist.sample_and_log_prob(seed=1)
      >>> print(f"{float(log_prob - dist.log_prob(x)):.3f}")
      0.000
    """
    return self._sample_and_log_prob(sample_shape, seed)

  def _sample_and_log_prob(
    self, sample_shape: ShapeLike, seed: Seed | None
  ) -> tuple[Result, Result]:
    x = self.sample(sample_shape, seed)
    return x, structures.as_result(self._log_prob(x))

  def _sample_n(self, n: int, seed: Seed) -> Array:
    del n, seed
    self._missing("sample")

  def _log_prob(self, value: Array) -> Array:
    del value
    self._missing("log_prob")

  def _batch_shape(self) -> static.Shape:
    raise NotImplementedError

  def _event_shape(self) -> static.Shape:
    return ()


def checked_shape(sample_shape: ShapeLike) -> tuple[int, ...]:
  """Returns a sample shape as a tuple of ints."""
  wrong = (
    f"sample_shape is {raw_arguments.shown(sample_shape)}: it must be an integer or a tuple of "
    "integers"
  )
  try:
    sizes = static.concrete(sample_shape)
  except ValueError:  # It is ragged.
    raise TypeError(wrong) from None
  if sizes is None:
    raise TypeError("sample_shape is traced: it must be known statically")
  integers = sizes.dtype.kind in "iu" or onp.size(sizes) == 0
  if sizes.dtype.kind == "O":  # Integers of more than 64 bits.
    integers = all(isinstance(d, int) for d in onp.ravel(sizes))
  if not integers or onp.ndim(sizes) > 1:
    raise TypeError(wrong)
  shape = tuple(int(d) for d in onp.ravel(sizes))
  if any(d < 0 for d in shape):
    raise ValueError(f"sample_shape is {shape}: sizes must be >= 0")
  if math.prod(shape) > _MOST_SAMPLES:
    raise ValueError(
      f"sample_shape is {raw_arguments.shown(sample_shape)}: at most 2**40 samples can be drawn at "
      "once; draw them in parts"
    )
  return shape
