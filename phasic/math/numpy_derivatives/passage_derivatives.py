"""Derivatives of `chain_passages` and of variances, written out.

Rules as in `chain_derivatives`. Edge e is taken w_e y_i times, y = U^T alpha.
"""

import numpy as np

from phasic.internal import segments
from phasic.internal import static
from phasic.math.elimination import chain_solves
from phasic.math.elimination import doors
from phasic.math.elimination import killing
from phasic.math.numpy_derivatives import chain_derivatives
from phasic.math.numpy_derivatives import covariance_derivatives


def push_variance(option, system, others, moves):
  """Tangent of the variance."""
  del others
  ones = np.ones_like(system.initial)[..., None]
  moves = [*moves, np.zeros_like(ones)]
  found = covariance_derivatives.push(option, system, [ones], moves)
  return found[..., 0, 0]


def pull_variance(option, system, others, cotangent):
  """Cotangents of the variance."""
  del others
  ones = np.ones_like(system.initial)[..., None]
  cotangent = cotangent[..., None, None]
  return covariance_derivatives.pull(option, system, [ones], cotangent)[:3]


def push_jumps(option, system, others, moves):
  """Tangents of `chain_passages.jumps`."""
  del option, others
  of_initial, of_weights, _ = moves
  y = chain_solves.sojourns(system)
  of_y = chain_derivatives.moved_sojourns(system, y, of_initial, of_weights)
  z, of_z = (chain_solves.at_sources(system, x) for x in (y, of_y))
  return of_weights * z + system.weights * of_z


def pull_jumps(option, system, others, cotangent):
  """Cotangents of `chain_passages.jumps`."""
  del option, others
  p = static.shape(system.initial)[-1]
  z = chain_solves.at_sources(system, chain_solves.sojourns(system))
  of_y = segments.segment_sum(cotangent * system.weights, system.indices[0], p)
  x, d = chain_solves.solve(system, of_y[..., None], gives_edges=True)
  of_weights = z * (cotangent - d[..., 0])
  return [x[..., 0], of_weights, np.zeros_like(x[..., 0, 0])]


def push_visits(option, system, others, moves):
  """Tangents of `chain_passages.visits`."""
  del option, others
  of_initial, of_weights, _ = moves
  p = static.shape(system.initial)[-1]
  chain = doors.before_phases(system)
  y = chain_solves.sojourns(chain)
  none = np.zeros_like(y[..., :p])
  of_doors = np.zeros_like(of_weights[..., :1]) + np.zeros((p,), y.dtype)
  moved = chain_derivatives.moved_sojourns(
    chain,
    y,
    np.concatenate([none, of_initial + none], axis=-1),
    np.concatenate([of_weights, of_doors], axis=-1),
  )
  return moved[..., p:]


def pull_visits(option, system, others, cotangent):
  """Cotangents of `chain_passages.visits`."""
  del option, others
  p = static.shape(system.initial)[-1]
  m = static.shape(system.weights)[-1]
  chain = doors.before_phases(system)
  z = chain_solves.at_sources(chain, chain_solves.sojourns(chain))
  of_y = np.concatenate([np.zeros_like(cotangent), cotangent], axis=-1)
  x, d = chain_solves.solve(chain, of_y[..., None], gives_edges=True)
  of_initial = x[..., p:, 0]
  of_weights = -(z * d[..., 0])[..., :m]
  return [of_initial, of_weights, np.zeros_like(of_initial[..., 0])]


def push_hitting(option, system, others, moves):
  """Tangent of `chain_passages.hitting`."""
  del option
  of_initial, of_weights, *_ = moves
  passage, x, gains = _passage(system, others[0])
  along = of_weights * gains
  none = np.zeros_like(x + along[..., :1])
  along = np.concatenate([along + none[..., :1], none], axis=-1)
  moved = chain_solves.solve(passage, none[..., None], along[..., None])
  moved = np.where(others[0] > 0, 0.0, moved[..., 0])
  return np.sum(of_initial * x + system.initial * moved, axis=-1)


def pull_hitting(option, system, others, cotangent):
  """Cotangents of `chain_passages.hitting`; that of the targets is zero."""
  del option
  passage, x, gains = _passage(system, others[0])
  m = static.shape(gains)[-1]
  start = np.where(others[0] > 0, 0.0, system.initial)
  y = chain_solves.solve_transposed(passage, start[..., None])[..., 0]
  z = chain_solves.at_sources(passage, y)[..., :m]
  cotangent = cotangent[..., None]
  none = np.zeros_like(system.atom)
  return [cotangent * x, cotangent * z * gains, none, np.zeros_like(others[0])]


def _passage(system, targets):
  """Returns the chain that ends in targets, and what it hits.

  Args:
    system: the system.
    targets: 1 for targets, else 0, (..., p).

  Returns:
    The chain; the probabilities to hit from each phase, (..., p); and what one
    more jump along each edge adds to them, (..., m).
  """
  at_source = chain_solves.at_sources(system, targets) > 0
  into = chain_solves.at_targets(system, targets)
  weights = np.where(at_source, 0.0, system.weights)
  passage, _ = killing.killed(system, weights, targets)
  m = static.shape(weights)[-1]
  none = np.zeros_like(system.initial + targets + weights[..., :1])
  ends = np.concatenate([weights * into + none[..., :1], none], axis=-1)
  x, d = chain_solves.solve(passage, none[..., None], ends[..., None], True)
  gains = np.where(at_source, 0.0, into - d[..., :m, 0])
  x = np.where(targets > 0, 1.0, x[..., 0])
  return passage, x, gains
