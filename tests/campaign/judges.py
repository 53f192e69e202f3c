"""Judges of one law: each draws one and says what must be true of it.

A judge takes a `Scene`, and raises `Fault` where something is wrong.
"""

from __future__ import annotations

import math

import numpy as np

from tests.campaign import scene as scene_lib
from tests.campaign.agreement import agree
from tests.campaign.agreement import times

Scene = scene_lib.Scene
Fault = scene_lib.Fault


def probabilities(scene: Scene) -> None:
  """Densities, distribution functions and their logarithms agree."""
  law = scene.let("d", scene.laws.law())
  t = scene.let("t", times(scene, law))
  cdf, sf = scene.value("d.cdf(t)"), scene.value("d.survival_function(t)")
  agree("cdf + sf", cdf + sf, np.ones_like(cdf), 1e-12)
  for name, x in (("cdf", cdf), ("survival_function", sf)):
    if np.any((x < 0.0) | (x > 1.0)):
      raise Fault(f"{name} is not in [0, 1]: {x}")
    log = scene.value(f"d.log_{name}(t)")
    if np.any(log > 0.0):
      raise Fault(f"log_{name} is positive: {log}")
    agree(f"exp(log_{name})", np.exp(log), x, 1e-12, 1e-300)
  log_prob, prob = scene.value("d.log_prob(t)"), scene.value("d.prob(t)")
  with np.errstate(over="ignore"):
    # The relative error of exp(x) is that of x times x.
    agree("exp(log_prob)", np.exp(log_prob), prob, 1e-12 * 700.0, 1e-300)
  order = np.argsort(t, axis=-1) if np.ndim(t) == 1 else None
  if order is not None and cdf.ndim == 1:
    ordered = cdf[order]
    ordered = ordered[~np.isnan(ordered)]
    if np.any(np.diff(ordered) < -1e-12 * ordered[1:]):
      raise Fault(f"cdf falls: {ordered}")


def hazards(scene: Scene) -> None:
  """Hazards are densities over survival, and integrate to its logarithm."""
  law = scene.let("d", scene.laws.continuous_law())
  t = scene.let("t", f"np.asarray({times(scene, law)})")
  hazard = scene.value("d.hazard_function(t)")
  log_hazard = scene.value("d.log_hazard_function(t)")
  with np.errstate(all="ignore"):
    agree("exp(log_hazard)", np.exp(log_hazard), hazard, 1e-9, 1e-300)
    prob, sf = scene.value("d.prob(t)"), scene.value("d.survival_function(t)")
    seen = np.where(
      (sf > 1e-290) & (prob > 1e-290) & (t > 0), hazard * sf, prob
    )
    agree("hazard * sf", seen, prob, 1e-10)
  total = scene.value("d.cumulative_hazard(t)")
  agree(
    "cumulative", total, -scene.value("d.log_survival_function(t)"), 1e-9, 1e-12
  )


def quantiles(scene: Scene) -> None:
  """Quantiles are where the distribution function reaches a probability."""
  discrete = scene.draw.is_likely(0.2)
  draw = scene.laws.discrete_law if discrete else scene.laws.continuous_law
  scene.let("d", draw())
  prob = float(scene.draw.number(0.001, 0.999))
  scene.let("p", repr(prob))
  q = scene.let("q", "d.quantile(p)")
  if np.any(np.isnan(q)):
    return
  if np.any(q < 0.0):
    raise Fault(f"quantile {q}")
  if scene.draw.is_likely(0.5):
    way = scene.draw.one_of(
      ("quantile_log_cdf(math.log(p))", "quantile_log_survival(math.log1p(-p))")
    )
    agree(way, scene.value(f"d.{way}"), q, 1e-9)
  reached = scene.value("d.cdf(q)")
  if discrete:
    before = scene.value("d.cdf(q - 1.0)")
    if np.any(reached < prob * (1 - 1e-12)) or np.any(
      before > prob * (1 + 1e-12)
    ):
      raise Fault(f"cdf {before} and {reached} beside {prob}")
    return
  with np.errstate(over="ignore", invalid="ignore"):
    slack = 1e-10 + 1e-12 * q * scene.value("d.prob(q)")
  at_atom = (q == 0.0) & (reached >= prob)
  above = np.isinf(q) & (scene.value("d.survival_function(1e300)") > 0.0)
  wrong = np.abs(reached - prob) > slack
  if np.any(wrong & ~at_atom & ~above & ~np.isnan(slack)):
    raise Fault(f"cdf of the quantile is {reached}, not {prob}")


def moments(scene: Scene) -> None:
  """Moments, means of what is left and variances agree."""
  law = scene.let("d", scene.laws.continuous_law())
  t = scene.let("t", scene.draw.number(0.05, 4.0))
  mean, sf = scene.value("d.mean()"), scene.value("d.survival_function(t)")
  if hasattr(law, "limited_expected_value"):
    limited = scene.value("d.limited_expected_value(t)")
    left = scene.value("d.mean_residual_life(t)")
    with np.errstate(all="ignore"):
      both = limited + np.where(sf > 0, sf * left, 0.0)
    # A tail that underflows may have an infinite mean.
    unseen = (sf == 0.0) & np.isinf(mean)
    agree("mean in two parts", both, np.where(unseen, both, mean), 1e-8)
    if np.any(limited > t * (1 + 1e-12)):
      raise Fault(f"limited expected value {limited}")
  first, second = scene.value("d.moment(1)"), scene.value("d.moment(2)")
  agree("moment(1)", first, mean, 1e-9)
  variance = scene.value("d.variance()")
  with np.errstate(all="ignore"):
    agree("second moment", variance + mean * mean, second, 1e-8)
    agree("stddev", scene.value("d.stddev()") ** 2, variance, 1e-9)


def invalid(scene: Scene) -> None:
  """A model that breaks a rule has no values, and says so."""
  draw = scene.draw
  count = draw.size(4, 2)
  scene.let("a", f"np.asarray({draw.probs(count)})")
  scene.let("m", f"objects.chain({count}, {draw.integer(0, 99)})")
  scene.let("e", "np.maximum(-m.sum(axis=-1), 0.0)")
  i, bad = (
    draw.integer(0, count - 1),
    draw.one_of(("-0.5", "nan", "inf", "-1e-3")),
  )
  broken = draw.one_of(
    (
      f"np.where(np.arange({count}) == {i}, {bad}, a), m, e",
      f"a, m, np.where(np.arange({count}) == {i}, {bad}, e)",
      f"a, np.where(np.eye({count}, k=1) > 0, {bad}, m), e",
    )
  )
  scene.hostile(f"pd.PhaseType({broken}, prob_zero=0.0)")
  for call in (
    "log_prob(1.0)",
    "cdf(2.0)",
    "mean()",
    "variance()",
    "quantile(0.5)",
  ):
    found = scene.hostile(f"pd.PhaseType({broken}, prob_zero=0.0).{call}")
    if not np.all(np.isnan(found)):
      raise Fault(f"{call} of an invalid model is {found}")


def batches(scene: Scene) -> None:
  """Values of many times are those of each."""
  law = scene.let("d", scene.laws.law())
  if np.ndim(scene.let("t", times(scene, law))) != 1 or len(law.batch_shape):
    return
  method = scene.draw.one_of(
    ("log_prob", "cdf", "log_survival_function", "hazard_function")
  )
  found = scene.value(f"d.{method}(t)")
  if found.size:
    i = int(scene.draw.random.integers(found.size))
    alone = scene.value(f"d.{method}(t[{i}])")
    agree(f"{method} alone", alone, found[i], 1e-11, 1e-12)


def samples(scene: Scene) -> None:
  """Samples are where the law is, and a seed gives the same ones."""
  scene.let("d", scene.laws.law())
  scene.let("key", f"objects.seed({scene.substrate!r}, {scene.draw.size(99)})")
  found = scene.value("d.sample(50, seed=key)")
  if np.any(found < 0.0):
    raise Fault(f"a negative sample: {found.min()}")
  agree("the same seed", scene.value("d.sample(50, seed=key)"), found, 0.0)
  logs = scene.value("d.log_prob(d.sample(50, seed=key))")
  if np.any((logs == -math.inf) & (found < math.inf)):
    raise Fault("a sample where the density is zero")


def round_trips(scene: Scene) -> None:
  """Copies, pickles and JSON are what they were."""
  law = scene.let("d", scene.laws.law())
  scene.let("t", times(scene, law))
  expected = scene.value("d.log_prob(t)")
  if scene.substrate == "numpy":
    scene.let("e", "objects.pickled(d)")
    agree("a pickle", scene.value("e.log_prob(t)"), expected, 0.0)
  scene.let("r", "pd.Distribution.from_json(d.to_json())")
  agree("JSON", scene.value("r.log_prob(t)"), expected, 0.0)
  if type(law).__name__ == "GraphPhaseType":
    scene.let("g", "pg.Graph.from_json(d.parameters['graph'].to_json())")
    if (
      scene.let("h", "g.content_hash()")
      != law.parameters["graph"].content_hash()
    ):
      raise Fault("the graph changed")


def single_precision(scene: Scene) -> None:
  """Values in float32 are near those in float64."""
  draw = scene.draw
  count = draw.size(5)
  rates = [float(draw.number(0.1, 3.0)) for _ in range(count)]
  name, first = draw.one_of(
    (
      ("Hypoexponential", ""),
      ("Hyperexponential", f"np.full({count}, 1 / {count}, '{{}}'), "),
    )
  )
  for dtype in ("float32", "float64"):
    build = f"pd.{name}({first.format(dtype)}np.asarray({rates}, '{dtype}'))"
    scene.let(dtype, build)
  t = (
    f"np.asarray([{draw.number(0.01, 9.0)}, {draw.number(0.01, 9.0)}], '{{}}')"
  )
  for method in ("log_prob", "cdf", "hazard_function"):
    wide = scene.value(f"float64.{method}({t.format('float64')})")
    found = scene.value(f"float32.{method}({t.format('float32')})")
    agree(f"{method} in float32", found, wide, 3e-4, 3e-5)


JUDGES = (
  *(probabilities, hazards, quantiles, moments, invalid, batches),
  *(samples, round_trips, single_precision),
)
