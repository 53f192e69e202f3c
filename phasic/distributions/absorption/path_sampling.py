"""Paths of the chain of a distribution."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy as onp

from phasic.distributions.base import sampling
from phasic.internal import random
from phasic.internal.arrays import Integer
from phasic.internal.arrays import Seed
from phasic.internal.arrays import ShapeLike
from phasic.math.model.model_types import Model
from phasic.math.sampling import sample_paths as paths_lib

# The most jumps of all paths together; each takes 12 bytes.
_MOST_JUMPS = 2**27


class PathSampling(sampling.Sampling):
  """Samples of paths, for times until absorption of a chain."""

  _DISCRETE: ClassVar[bool]

  def sample_paths(
    self,
    num_jumps: Integer,
    sample_shape: ShapeLike = (),
    seed: Seed | None = None,
  ) -> paths_lib.PhasePaths:
    """Returns paths of the chain, the same ones for the same seed.

    A path starts in a phase drawn from the initial masses, stays there for an
    exponential time, in discrete time for a geometric number of steps, jumps to
    another phase, and so on until it is absorbed. What it costs grows with the
    number of jumps; `sample` does not run paths.

    Args:
      num_jumps: k, how many jumps are followed, absorption among them.
      sample_shape: an int or a tuple of ints.
      seed: as `sample` takes it.

    Returns:
      A named tuple of arrays of shape sample_shape + batch_shape + (k + 1,).
      `phases`, int32: the first phase and those after each jump; the number of
      phases p stands for absorption. `times`: when they were entered, the time
      of absorption from there on. A phase that is never left is followed by
      itself, at time inf. Where a value of the model breaks a rule phases are
      -1 and times NaN. There are no derivatives.

    Raises:
      TypeError: the seed is None or not of such a type, or a size is no
        integer.
      ValueError: a size is negative, or more than 2^27 jumps are asked for.

    Example: two stages, one after the other.

      >>> from phasic.distributions import Erlang
      >>> paths = Erlang(2, 1.0).sample_paths(3, seed=1)
      >>> [int(phase) for phase in paths.phases]
      [0, 1, 2, 2]

    References:
      D. T. Gillespie, Exact stochastic simulation of coupled chemical
        reactions, J. Phys. Chem. 81, 1977.
    """
    shape = sampling.checked_shape(sample_shape)
    jumps = _checked_jumps(num_jumps)
    batch = self._batch_shape()
    n = 1
    for d in shape:
      n = n * d
    total = n * jumps
    for d in batch:
      total = total * d if isinstance(d, int) else total
    if total > _MOST_JUMPS:
      raise ValueError(
        f"num_jumps is {jumps}: with sample_shape {shape} and batch shape "
        f"{batch} these are {total} jumps, more than {_MOST_JUMPS}"
      )
    own = random.sanitize_seed(seed, salt=f"{type(self).__name__} paths")
    found = paths_lib.sample_paths(
      n, jumps, own, *self._model(), discrete=self._DISCRETE
    )
    whole = (*shape, *self._batch_shape(), jumps + 1)
    phases, times = (np.reshape(x, whole) for x in found)
    return paths_lib.PhasePaths(phases, times)

  def _model(self) -> Model:
    raise NotImplementedError


def _checked_jumps(num_jumps: Integer) -> int:
  """Returns a number of jumps as an int."""
  integer = isinstance(num_jumps, (int, onp.integer))
  if not integer or isinstance(num_jumps, bool):
    raise TypeError(
      f"num_jumps is {type(num_jumps).__name__}: it must be a Python int, since "
      "it sets the size of the result"
    )
  if num_jumps < 0:
    raise ValueError(f"num_jumps is {int(num_jumps)}: it must be >= 0")
  return int(num_jumps)
