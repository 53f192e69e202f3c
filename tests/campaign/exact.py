"""Judges with an exact oracle: values and derivatives in ball arithmetic."""

from __future__ import annotations

import numpy as np

from tests.campaign import scene as scene_lib
from tests.oracle import parameters
from tests.oracle import phase_type_oracle as oracle

Scene = scene_lib.Scene
Fault = scene_lib.Fault

# What the pages promise, of values, logarithms and terms of a derivative.
_PROMISED = 1e-12
_METHODS = {
  "log_density": "log_prob",
  "density": "prob",
  "log_survival": "log_survival_function",
  "survival": "survival_function",
  "log_cdf": "log_cdf",
  "cdf": "cdf",
}


def values(scene: Scene) -> None:
  """Densities and probabilities of small chains have the digits promised."""
  operands = _operands(scene)
  kind = scene.draw.one_of(tuple(_METHODS))
  scene.let("d", "pd.PhaseType(alpha, matrix, exit_rates=exits)")
  found = float(scene.value(f"d.{_METHODS[kind]}(t)"))
  try:
    truth, _ = oracle.directional(kind, operands)
  except ArithmeticError:
    return  # It is zero.
  size = abs(float(truth))
  if kind.startswith("log_"):
    size = max(1.0, size)
  elif size < 1e-290:
    return  # Numbers so small have fewer digits.
  _check(kind, found, truth, size)


def derivatives(scene: Scene) -> None:
  """Forward and reverse derivatives have the digits promised."""
  operands = _operands(scene)
  kind = scene.draw.one_of(("log_density", "log_survival", "log_cdf"))
  direction = parameters.Operands(
    *(scene.draw.random.standard_normal(np.shape(x)) for x in operands)
  )
  direction = direction._replace(
    subgenerator=np.where(np.eye(len(operands[0])) > 0, 0.0, direction[1]),
    prob_zero=np.asarray(0.0),
  )
  try:
    truth, scale = oracle.directional(kind, operands, (direction,))
  except ArithmeticError:
    return  # The logarithm is -inf.
  method = _METHODS[kind]
  scene.let(
    "f",
    "lambda a, m, e, t: pd.PhaseType(a, m, exit_rates=e, prob_zero=0.0)."
    f"{method}(t)",
  )
  for name, x in zip(("da", "dm", "de", "dt"), _parts(direction), strict=True):
    scene.let(name, f"np.asarray({np.asarray(x).tolist()!r})")
  at = "(alpha, matrix, exits, t), (da, dm, de, dt)"
  forward = scene.value(f"pm.jvp(f, {at})[1]")
  _check(f"forward {kind}", float(forward), truth, scale)
  slopes = scene.value("pm.value_and_gradient(f, alpha, matrix, exits, t)[1]")
  parts = [np.asarray(x, float) for x in slopes]
  reverse = sum(
    float(np.sum(x * np.asarray(y)))
    for x, y in zip(parts, _parts(direction), strict=True)
  )
  # The sum of products is rounded, too.
  terms = sum(
    float(np.sum(np.abs(x * np.asarray(y))))
    for x, y in zip(parts, _parts(direction), strict=True)
  )
  _check(f"reverse {kind}", reverse, truth, scale + terms)


def _operands(scene: Scene) -> parameters.Operands:
  """Draws a small chain and a time, and names them for expressions."""
  draw = scene.draw
  count = draw.size(4)
  alpha = scene.let("alpha", f"np.asarray({draw.probs(count)})")
  rows = ", ".join(draw.rates(count, zeros=0.4) for _ in range(count))
  off = f"np.asarray([{rows}]) * (1.0 - np.eye({count}))"
  exits = scene.let(
    "exits",
    f"np.maximum({draw.rates(count, zeros=0.4)}, np.arange({count}) == 0)",
  )
  scene.let("off", off)
  matrix = scene.let("matrix", "off - np.diag(np.sum(off, axis=-1) + exits)")
  # Times at which the chain makes up to some hundred steps.
  most = float(np.max(np.abs(matrix)))
  steps = float(draw.number(0.01, 9.0)) ** 3
  time = scene.let("t", f"np.asarray({float(f'{steps / most:.6g}')!r})")
  return parameters.Operands(alpha, matrix, exits, np.asarray(0.0), time)


def _parts(direction: parameters.Operands) -> tuple[np.ndarray, ...]:
  return (
    direction.initial_probs,
    direction.subgenerator,
    direction.exit_rates,
    direction.time,
  )


def _check(what: str, found: float, truth: object, size: float) -> None:
  if np.isnan(found):
    return  # It was announced.
  error = oracle.error(found, truth)
  if not error <= _PROMISED * size:
    raise Fault(
      f"{what} is {found!r}, not {float(truth)!r}: {error / size:.1e}"
    )


JUDGES = (values, derivatives)
