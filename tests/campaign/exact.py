"""Judges with an exact oracle: values and derivatives in ball arithmetic."""

from __future__ import annotations

import flint
import numpy as np

from tests.campaign import scene as scene_lib
from tests.oracle import discrete_oracle
from tests.oracle import epoch_oracle
from tests.oracle import interval_oracle
from tests.oracle import parameters
from tests.oracle import phase_type_oracle as oracle
from tests.oracle import reward_oracle

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
    *(scene.draw.random.normals(np.shape(x)) for x in operands)
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


def step_values(scene: Scene) -> None:
  """Discrete laws have the digits promised, in rational numbers."""
  draw = scene.draw
  count = draw.size(4)
  scene.let("alpha", f"np.asarray({draw.probs(count)})")
  scene.let("matrix", f"objects.steps({count}, {draw.integer(0, 99)})")
  scene.let("exits", "1.0 - matrix.sum(axis=-1)")
  n = float(draw.one_of((draw.integer(0, 9), draw.integer(0, 80))))
  scene.let("n", repr(n))
  d = "pd.DiscretePhaseType(alpha, matrix, exit_probs=exits, prob_zero=0.0)"
  scene.let("d", d)
  kind = draw.one_of(tuple(_METHODS))
  model = discrete_oracle.Operands(
    *(scene.named(x) for x in ("alpha", "matrix", "exits")), np.asarray(0.0)
  )
  found = float(scene.value(f"d.{_METHODS[kind]}(n)"))
  try:
    truth, _ = discrete_oracle.directional(kind, model, int(n))
  except (ArithmeticError, ValueError):
    return  # It is zero.
  size = max(1.0, abs(truth)) if kind.startswith("log_") else abs(truth)
  _check(kind, found, truth, size)


def interval_values(scene: Scene) -> None:
  """Log likelihoods of intervals have the digits promised."""
  operands = _operands(scene)
  width = float(scene.draw.number(0.001, 3.0))
  upper = scene.let("u", f"float(t) * (1.0 + {width})")
  scene.let("d", "pd.PhaseType(alpha, matrix, exit_rates=exits, prob_zero=0.0)")
  scene.let("o", "inference.Observations([t], [u])")
  found = float(scene.value("o.log_likelihood(d)"))
  try:
    truth, _ = interval_oracle.log_mass(operands, upper)
  except ArithmeticError:
    return  # The mass is zero.
  _check("interval", found, truth, max(1.0, abs(float(truth))))


def epoch_values(scene: Scene) -> None:
  """Laws of epochs and their moments have the digits promised."""
  draw = scene.draw
  graph = scene.let("g", f"pg.models.birth_death(1, {draw.size(4, 2)})")
  ends = sorted({float(draw.number(0.05, 3.0)) for _ in range(draw.size(2))})
  rates = [[float(draw.number(0.1, 3.0)) for _ in "ab"] for _ in [0.0, *ends]]
  scene.let("d", f"pd.Epochs(g, {rates}, {ends})")
  t = float(draw.number(0.0, 5.0))
  truth = epoch_oracle.EpochOracle([graph] * len(rates), rates, ends)
  with flint.ctx.workprec(600):
    for call, value in (
      (f"prob({t!r})", truth.density(t)),
      (f"survival_function({t!r})", truth.survival(t)),
      (f"cdf({t!r})", truth.cdf(t)),
      ("mean()", truth.moment(1)),
      ("moment(2)", truth.moment(2)),
    ):
      found = float(scene.value(f"d.{call}"))
      _check(call, found, value, abs(float(value)))


def reward_values(scene: Scene) -> None:
  """Moments and transforms of rewards have the digits promised."""
  operands = _operands(scene)
  count = len(operands[0])
  rows = ", ".join(scene.draw.rates(count, zeros=0.3) for _ in range(2))
  given = scene.let("rewards", f"np.asarray([{rows}])")
  alpha, off, exits = operands[0], scene.named("off"), operands[2]
  model = "alpha, matrix, exit_rates=exits, prob_zero=0.0"
  if not _ends(off, exits):
    return
  for order in (1, 2):
    found = scene.value(
      f"pm.phase_type.reward_moments({order}, rewards, {model})"
    )
    for own, x in zip(given, found[..., order - 1], strict=True):
      exact = reward_oracle.moment(alpha, off, exits, [own] * order)
      _check(
        "moment of a reward", float(x), exact, abs(float(flint.arb(exact)))
      )


def _ends(off: np.ndarray, exits: np.ndarray) -> bool:
  """Returns whether absorption is reached from every phase."""
  ends = exits > 0.0
  for _ in exits:
    ends = ends | np.any((off > 0.0) & ends, axis=-1)
  return bool(np.all(ends))


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


JUDGES = (
  *(values, derivatives, step_values, interval_values, epoch_values),
  reward_values,
)
