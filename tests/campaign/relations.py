"""Judges of relations: between laws, and between ways to compute one."""

from __future__ import annotations

import functools

import numpy as np

from tests.campaign import kinds
from tests.campaign import objects
from tests.campaign import scene as scene_lib
from tests.campaign import surface
from tests.campaign.agreement import agree
from tests.campaign.agreement import times

Scene = scene_lib.Scene
Fault = scene_lib.Fault


def neutral(scene: Scene) -> None:
  """Closures and wrapped laws that change nothing."""
  law = scene.let("d", scene.laws.phase_law())
  if len(law.batch_shape):
    return
  scene.let("t", times(scene, law))
  text = scene.draw.one_of(
    (
      *("pd.mixture([1.0], [d])", "pd.minimum([d])", "pd.maximum([d])"),
      *("pd.convolution([d])", "pd.order_statistic(d, 1, 1)", "d.copy()"),
      *(
        "pd.ResidualLife(d, 0.0)",
        "pd.ZeroInflated(d, 0.0)",
        "d.as_phase_type()",
      ),
      "pd.TruncatedPhaseType(d, 0.0)",
    )
  )
  if "Truncated" in text:
    scene.let("t", "np.minimum(t, 1e300)")  # A bound of inf is below never.
  if "ResidualLife" in text and np.any(scene.value("d.cdf(0.0)") > 0.0):
    return  # It is later than an atom.
  scene.let("e", text)
  for method in ("log_prob", "log_survival_function", "cdf"):
    there = scene.value(f"d.{method}(t)")
    agree(
      f"{method} of {text}", scene.value(f"e.{method}(t)"), there, 1e-9, 1e-12
    )


def conditioning(scene: Scene) -> None:
  """Truncated and residual laws are conditional probabilities."""
  law = scene.let("d", scene.laws.phase_law())
  if len(law.batch_shape):
    return
  low, high = sorted(float(scene.draw.number(0.01, 5.0)) for _ in range(2))
  high += 0.1
  between = low + (high - low) * float(scene.draw.number(0.0, 1.0))
  low_sf, sf, high_sf = (
    scene.value(f"d.survival_function({x!r})") for x in (low, between, high)
  )
  if low_sf - high_sf > 1e-4 * low_sf:
    found = scene.value(
      f"pd.TruncatedPhaseType(d, {low}, {high}).cdf({between!r})"
    )
    agree("truncated", found, (low_sf - sf) / (low_sf - high_sf), 1e-8, 1e-10)
  found = scene.value(
    f"pd.ResidualLife(d, {low}).log_survival_function({high!r})"
  )
  both = scene.value(f"d.log_survival_function([{low!r} + {high!r}, {low!r}])")
  with np.errstate(invalid="ignore"):
    slack = 1e-12 * (1.0 + np.abs(both[1]))
    agree("residual", found, both[0] - both[1], 1e-9, slack)


def closures(scene: Scene) -> None:
  """Minima, maxima, mixtures and sums by the laws that they are of."""
  for name in ("d", "e"):
    if len(scene.let(name, scene.laws.phase_law(1)).batch_shape):
      return
  scene.let("t", "[0.0, 0.1, 0.7, 2.0, 5.0]")
  f, g = (scene.value(f"{x}.cdf(t)") for x in "de")
  s, u = (scene.value(f"{x}.survival_function(t)") for x in "de")
  found = scene.value("pd.minimum([d, e]).survival_function(t)")
  agree("minimum", found, s * u, 1e-10, 1e-300)
  found = scene.value("pd.maximum([d, e]).cdf(t)")
  agree("maximum", found, f * g, 1e-10, 1e-300)
  found = scene.value("pd.order_statistic(d, 3, 2).cdf(t)")
  agree("order statistic", found, f * f * (3.0 - 2.0 * f), 1e-9, 1e-12)
  found = scene.value("pd.mixture([0.25, 0.75], [d, e]).cdf(t)")
  agree("mixture", found, 0.25 * f + 0.75 * g, 1e-11, 1e-300)
  scene.let("c", "pd.convolution([d, e])")
  with np.errstate(all="ignore"):
    for name in ("mean", "variance"):
      parts = scene.value(f"d.{name}()") + scene.value(f"e.{name}()")
      agree(f"{name} of a sum", scene.value(f"c.{name}()"), parts, 1e-9)
  product = scene.value("d.laplace_transform(0.5)") * scene.value(
    "e.laplace_transform(0.5)"
  )
  agree(
    "transform", scene.value("c.laplace_transform(0.5)"), product, 1e-9, 1e-300
  )


def epochs(scene: Scene) -> None:
  """Epochs of equal rates are one, and boundaries may be cut in two."""
  draw = scene.draw
  scene.let("g", f"pg.models.kingman({draw.integer(2, 9)})")
  rates = draw.rates(2)
  scene.let("r", rates)
  end = float(draw.number(0.05, 3.0))
  scene.let("plain", "objects.of_graph(pd, g, r)")
  scene.let("same", f"objects.of_epochs(pd, g, [r, r], [{end}])")
  scene.let("two", f"objects.of_epochs(pd, g, [r[:1], r[1:]], [{end}])")
  scene.let(
    "cut",
    f"objects.of_epochs(pd, g, [r[:1], r[:1], r[1:]], [{end / 2}, {end}])",
  )
  scene.let("t", draw.times())
  for method in ("log_prob", "log_survival_function", "cdf"):
    for a, b in (("same", "plain"), ("cut", "two")):
      expected = scene.value(f"{b}.{method}(t)")
      found = scene.value(f"{a}.{method}(t)")
      agree(f"{method} of {a}", found, expected, 1e-9, 1e-12)
  agree("mean", scene.value("cut.mean()"), scene.value("two.mean()"), 1e-10)


def compiled(scene: Scene) -> None:
  """A call that is compiled, or saved and read, has the values of an eager one."""
  draw = scene.draw
  name = draw.one_of(("Hypoexponential", "Erlang", "Hyperexponential"))
  count = draw.size(3)
  first = {
    "Erlang": f"{count}, ",
    "Hyperexponential": f"np.full({count}, 1 / {count}), ",
  }
  rates = draw.rate() if name == "Erlang" else draw.rates(count)
  scene.let("r", f"np.asarray({rates})")
  scene.let(
    "t", f"np.asarray([{draw.number(0.0, 4.0)}, {draw.number(0.0, 9.0)}])"
  )
  method = draw.one_of(
    ("log_prob", "cdf", "log_survival_function", "hazard_function")
  )
  scene.let("f", f"lambda r, t: pd.{name}({first.get(name, '')}r).{method}(t)")
  eager = scene.value("f(r, t)")
  way = draw.one_of(("compiled({}, f)(r, t)",) * 4 + ("exported({}, f, r, t)",))
  found = scene.value(f"objects.{way.format(repr(scene.substrate))}")
  agree(f"{method} {way}", found, eager, 1e-12)


def em_steps(scene: Scene) -> None:
  """The likelihood never falls in a step of EM."""
  draw = scene.draw
  times = [float(draw.number(0.01, 5.0)) for _ in range(draw.size(6, 3))]
  ends = [x if draw.is_likely(0.7) else np.inf for x in times]
  weights = [float(draw.integer(1, 9)) for _ in times]
  entry = [draw.one_of((-1.0, 0.5 * x)) for x in times]
  scene.let(
    "data", f"inference.Observations({times}, {ends}, {weights}, {entry})"
  )
  count = draw.size(3)
  ends = f"{draw.rates(count - 1)}, {draw.rates(count)}"
  scene.let("d", f"pd.Coxian({ends})")
  before = float(scene.value("data.log_likelihood(d)"))
  for _ in range(3):
    scene.let("d", "inference.em_step(d, data).distribution")
    after = float(scene.value("data.log_likelihood(d)"))
    if after < before - 1e-10 * (1.0 + abs(before)):
      raise Fault(f"the log likelihood falls from {before!r} to {after!r}")
    before = after


def anything(scene: Scene) -> None:
  """Any call of any name returns, or raises with an explanation."""
  arguments = kinds.Arguments(scene.draw)
  entry = scene.draw.one_of(_entries(scene.substrate))
  try:
    scene.hostile(arguments.call(entry))
  except objects.Refused:
    return  # Of the caller's own function.


@functools.cache
def _entries(substrate: str) -> tuple[kinds.Entry, ...]:
  return tuple(surface.entries(substrate))


JUDGES = (
  *(neutral, conditioning, closures, epochs, compiled, em_steps, anything),
)
