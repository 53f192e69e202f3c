"""Log likelihood of panel data by products of matrices, in JAX.

Written for plainness. Each row of a subject is a matrix: what can happen from
the row before up to this row, times the probability of what the row shows. The
likelihood is the start weights times all matrices, summed.

Parameters are a dict of arrays, of which only the first is needed:

- log_intensities: `[m]`, in the order of `Model.transitions`.
- effects: `[m, k]`, of covariates on log intensities.
- period_effects: `[c, m]`, added to log intensities from each cut to the next.
- start_logits: `[s - 1]`, of `Model.start` without its first state: log
  probabilities less that of the first.
- label_logits: `[e]`, of `Model.mislabels`: log probabilities of a wrong label
  less that of the right one.
- label_effects: `[e, k]`, of covariates on these.
- others, `[p, ...]`, which `Model.outcome` reads.
"""

import functools
from typing import Any

import jax
from jax import flatten_util
import jax.numpy as jnp
import numpy as np

from tests.oracle.panel import padding
from tests.oracle.panel import records

jax.config.update("jax_enable_x64", True)

Parameters = dict[str, Any]
_SMALLEST = records.Sizes()
# Rows of a Hessian that are computed at once.
_BLOCK = 12


def _generators(parameters: Parameters, structure, covariates) -> jax.Array:
  """Returns the matrix of intensities in each period, `[c + 1, p, p]`."""
  i, j = structure["transitions"].T
  logs = parameters["log_intensities"] + parameters["effects"] @ covariates
  logs = jnp.concatenate([logs[None], logs + parameters["period_effects"]])
  rates = jnp.where(structure["is_transition"], jnp.exp(logs), 0.0)
  p = len(structure["start"])
  jumps = jnp.zeros((len(logs), p, p)).at[:, i, j].add(rates)
  return jumps - jnp.sum(jumps, -1, keepdims=True) * np.eye(p)


def _label_probs(parameters: Parameters, structure, row) -> jax.Array:
  """Returns the probability of the labels in each state, `[p]`."""
  i, j = structure["mislabels"].T
  logits = parameters["label_logits"]
  logits = logits + parameters["label_effects"] @ row["covariates"]
  odds = jnp.where(structure["is_mislabel"], jnp.exp(logits), 0.0)
  odds = jnp.eye(len(structure["start"])).at[i, j].add(odds)
  return odds @ row["labels"] / jnp.sum(odds, -1)


def _weights(parameters: Parameters, structure, outcome, row) -> jax.Array:
  """Returns the probability or density of what a row shows in each state."""
  probs = _label_probs(parameters, structure, row)
  weights = row["possible"] * jnp.where(row["has_labels"], probs, 1.0)
  if outcome is None:
    return weights
  logs = outcome(parameters, row["outcome"], row["covariates"])
  return weights * jnp.where(row["has_outcome"], jnp.exp(logs), 1.0)


def _movement(parameters: Parameters, structure, row) -> jax.Array:
  """Returns the matrix of what happens up to a row."""
  generators = _generators(parameters, structure, row["before"])
  pieces = row["durations"][:, None, None] * generators
  probs = functools.reduce(jnp.matmul, jax.vmap(jax.scipy.linalg.expm)(pieces))
  stays = jnp.exp(jnp.diagonal(jnp.sum(pieces, 0)))
  # Intensities just before the row: those of the last period that it is in.
  periods = jnp.arange(len(pieces))
  period = jnp.max(jnp.where(row["durations"] > 0, periods, 0))
  identity = np.eye(len(stays))
  jumps = generators[period] * (1.0 - identity)
  motions = jnp.stack(
    [probs, stays[:, None] * (jumps + identity), probs @ jumps]
  )
  return motions[row["motion"]]


def _start(parameters: Parameters, structure) -> jax.Array:
  """Returns the weights of states in the first row, `[p]`."""
  logits = jnp.concatenate([jnp.zeros(1), parameters["start_logits"]])
  logits = logits + structure["start_logits"]
  odds = jnp.where(structure["is_start"], jnp.exp(logits), 0.0)
  probs = jnp.zeros(len(odds)).at[structure["start"]].add(odds / jnp.sum(odds))
  return jnp.where(structure["starts_known"], 1.0, probs)


def _steps(parameters: Parameters, structure, outcome, rows):
  """Returns weights in the first row, `[p]`, and a matrix for each later one."""
  shown = jax.vmap(lambda row: _weights(parameters, structure, outcome, row))
  moved = jax.vmap(lambda row: _movement(parameters, structure, row))
  weights = shown(rows)
  matrices = moved(jax.tree.map(lambda x: x[1:], rows)) * weights[1:, None, :]
  return _start(parameters, structure) * weights[0], matrices


def _subject(parameters: Parameters, structure, outcome, rows) -> jax.Array:
  """Returns the log likelihood of one subject."""
  first, matrices = _steps(parameters, structure, outcome, rows)

  def step(state, matrix):
    state = state @ matrix
    total = jnp.sum(state)
    return state / total, jnp.log(total)

  total = jnp.sum(first)
  _, logs = jax.lax.scan(step, first / total, matrices)
  return jnp.log(total) + jnp.sum(logs)


def _filled(flat, places) -> Parameters:
  values = jnp.concatenate([flat, jnp.zeros(1)])
  return {name: values[place] for name, place in places.items()}


def _value(flat, places, structure, rows, present, outcome) -> jax.Array:
  parameters = _filled(flat, places)
  logs = jax.vmap(lambda x: _subject(parameters, structure, outcome, x))(rows)
  return jnp.sum(jnp.where(present, logs, 0.0))


@functools.partial(jax.jit, static_argnums=5)
def _all_steps(flat, places, structure, rows, present, outcome):
  del present
  parameters = _filled(flat, places)
  return jax.vmap(lambda x: _steps(parameters, structure, outcome, x))(rows)


_LOG_LIKELIHOOD = functools.partial(jax.jit, static_argnums=5)(_value)


# Without optimizations: to compile it takes longer than forty cases do.
@functools.partial(
  jax.jit,
  static_argnums=6,
  compiler_options={"xla_backend_optimization_level": 0},
)
def _derivatives(directions, flat, *rest):
  """Returns value, gradient, and products of directions and the Hessian."""

  def gradient(x):
    value, slopes = jax.value_and_grad(_value)(x, *rest)
    return slopes, (value, slopes)

  _, hessian, (value, slopes) = jax.linearize(gradient, flat, has_aux=True)
  return value, slopes, jax.vmap(hessian)(directions)


def _arguments(parameters, model, subjects, least):
  """Returns flattened and filled parameters, and what else `_value` takes."""
  flat, _ = flatten_util.ravel_pytree(parameters)
  size = padding.sizes(model, subjects, len(flat), least)
  return (
    jnp.pad(flat, (0, size.parameters - len(flat))),
    padding.places(parameters, size),
    padding.structure(model, size),
    padding.rows(model, subjects, size),
    np.arange(size.subjects) < len(subjects),
    model.outcome or least.outcome,
  )


def log_likelihood(
  parameters: Parameters,
  model: records.Model,
  subjects: list[list[records.Row]],
  sizes: records.Sizes = _SMALLEST,
) -> jax.Array:
  """Returns the log likelihood, which `jax.grad` and `jax.hessian` take."""
  return _LOG_LIKELIHOOD(*_arguments(parameters, model, subjects, sizes))


def steps(
  parameters: Parameters,
  model: records.Model,
  subjects: list[list[records.Row]],
  sizes: records.Sizes = _SMALLEST,
) -> list[tuple[np.ndarray, np.ndarray]]:
  """Returns what is multiplied, of each subject.

  Weights of states in the first row, `[p]`, and a matrix for each later row,
  `[r - 1, p, p]`. Their product, summed, is the likelihood.
  """
  arguments = _arguments(parameters, model, subjects, sizes)
  starts, matrices = map(np.asarray, _all_steps(*arguments))
  p = model.num_states
  return [
    (starts[i, :p], matrices[i, : len(subject) - 1, :p, :p])
    for i, subject in enumerate(subjects)
  ]


def derivatives(
  parameters: Parameters,
  model: records.Model,
  subjects: list[list[records.Row]],
  sizes: records.Sizes = _SMALLEST,
) -> tuple[float, np.ndarray, np.ndarray]:
  """Returns value, gradient `[n]` and Hessian `[n, n]`.

  Parameters are flattened as by `jax.flatten_util.ravel_pytree`: in the order
  of their names. Cases with the same `sizes` share compiled functions.
  """
  n = sum(np.size(value) for value in parameters.values())
  arguments = _arguments(parameters, model, subjects, sizes)
  # Blocks of rows, because most cases have fewer parameters than fit.
  directions = np.eye(-(-n // _BLOCK) * _BLOCK, len(arguments[0]))
  hessian = []
  for block in np.split(directions, len(directions) // _BLOCK):
    value, gradient, products = _derivatives(block, *arguments)
    hessian.append(np.asarray(products))
  hessian = np.concatenate(hessian)
  return float(value), np.asarray(gradient)[:n], hessian[:n, :n]
