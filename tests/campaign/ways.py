"""Judges of one number computed in several ways: forms, integrals, slopes, fits."""

from __future__ import annotations

import numpy as np

from tests.campaign import scene as scene_lib
from tests.campaign.agreement import agree

Scene = scene_lib.Scene
Fault = scene_lib.Fault

_METHODS = ("log_prob", "cdf", "log_survival_function", "hazard_function")
# Laws of three rates r, as functions of them that are smooth.
OF_RATES = (
  *("pd.Erlang(2, r[0])", "pd.Hypoexponential(r)", "pd.Coxian(r[:1], r[1:])"),
  "pd.HyperErlang([0.3, 0.7], (1, 2), r[:2])",
  "pd.Hyperexponential(r[:2] / (r[0] + r[1]), [0.5, 2.0])",
  "pd.PhaseType(r[:2] / (r[0] + r[1] + r[2]), [[-1.0, 0.4], [0.3, -0.8]])",
  *(
    f"pd.PhaseType((r[0] * objects.share({n}, 0) + r[1] * objects.share({n}, 1)) "
    f"/ (r[0] + r[1] + r[2]), r[2] * objects.chain({n}, {n}))"
    for n in (11, 24)
  ),
  "pd.PhaseType([0.4, 0.6], [[0.0, 0.7], [0.2, 0.0]], exit_rates=r[:2])",
  "pd.MatrixWeibull(pd.Erlang(2, r[0]), r[1])",
  "pd.MatrixGompertz(pd.Hypoexponential(r[:2]), r[2])",
  "pd.TruncatedPhaseType(pd.Hypoexponential(r), 0.1, 4.5)",
  "pd.ResidualLife(pd.Hypoexponential(r), 0.3)",
  "pd.Equilibrium(pd.Coxian(r[:1], r[1:]))",
  "pd.ZeroInflated(pd.Erlang(2, r[0]), 0.2)",
  "pd.convolution([pd.Erlang(2, r[0]), pd.Hypoexponential(r[1:])])",
  "pd.minimum([pd.Erlang(2, r[0]), pd.Hypoexponential(r[1:])])",
  "pd.maximum([pd.Erlang(2, r[0]), pd.Hypoexponential(r[1:])])",
  "pd.order_statistic(pd.Erlang(2, r[0]), 3, 2)",
  "pd.GraphPhaseType(pg.models.birth_death(1, 4), r[:2])",
  "pd.Epochs(pg.models.kingman(4), [r[:1], r[1:2]], [0.4])",
)
OF_LAW = (
  *(
    "log_prob(t)",
    "cdf(t)",
    "log_survival_function(t)",
    "mean()",
    "variance()",
  ),
  *("hazard_function(t)", "quantile(0.3)", "quantile(0.97)", "prob(t)"),
)
# Those of phase type, whose densities have no jump.
_SMOOTH = tuple(
  x
  for x in OF_RATES
  if not x.startswith(("pd.Matrix", "pd.Trunc", "pd.Epochs"))
)
_WITHOUT_ATOM = (
  *(x for x in _SMOOTH if "Zero" not in x and "+ r[2])" not in x),
  "pd.MatrixGompertz(pd.Hypoexponential(r[:2]), r[2])",
)


def forms(scene: Scene) -> None:
  """Phases in another order or in edges, and times in another unit, change nothing."""
  draw = scene.draw
  count = draw.size(7)
  start = f"np.asarray({draw.probs(count)})"
  scene.let("a", start)
  rows = ", ".join(draw.rates(count, zeros=0.5) for _ in range(count))
  scene.let("off", f"np.asarray([{rows}]) * (1.0 - np.eye({count}))")
  ends = f"np.maximum({draw.rates(count, zeros=0.4)}, np.arange({count}) == 0)"
  scene.let("e", ends)
  order = sorted(range(count), key=lambda _: draw.random.random())
  scene.let("k", f"np.asarray({order})")
  c = draw.one_of((2.0, 0.25, 1e-6, 3e5))
  scene.let("d", "pd.PhaseType(a, off, exit_rates=e)")
  scene.let("moved", "pd.PhaseType(a[k], off[np.ix_(k, k)], exit_rates=e[k])")
  scene.let("sparse", "pd.PhaseType(a, objects.edges(pm, off, e))")
  graph = "pg.Graph.from_matrices(a, off, e, allow_never_absorbing=True)"
  if isinstance(scene.hostile(graph), scene_lib.Refusal):
    return  # The chain starts in a trap.
  scene.let("g", graph)
  scene.let("read", "pd.GraphPhaseType(pg.Graph.from_json(g.to_json()))")
  scene.let("unit", f"pd.PhaseType(a, off * {c}, exit_rates=e * {c})")
  scene.let("t", f"np.asarray({draw.times()})")
  for method in ("log_prob", "log_survival_function", "cdf"):
    expected = scene.value(f"d.{method}(t)")
    for other in ("moved", "sparse", "read"):
      found = scene.value(f"{other}.{method}(t)")
      agree(f"{method} of {other}", found, expected, 3e-11, 1e-12)
    if method != "log_prob":
      scene.let("s", f"np.where(np.abs(t) < 1e100, t, {c}) / {c}")
      found = scene.value(f"unit.{method}(s)")
      expected = scene.value(f"d.{method}(s * {c})")
      # Where log sf is long, a relative error of the time's is one of its.
      agree(f"{method} in a unit", found, expected, 3e-11, 1e-12)
  mean = scene.value("d.mean()")
  agree("mean of moved", scene.value("moved.mean()"), mean, 1e-11)
  agree("mean of sparse", scene.value("sparse.mean()"), mean, 1e-11)
  agree("mean in a unit", scene.value("unit.mean()") * c, mean, 1e-11)


def lumped(scene: Scene) -> None:
  """Equal machines lumped are what they were."""
  draw = scene.draw
  scene.let("g", f"objects.machines(pg, {draw.size(5, 2)})")
  scene.let("r", f"np.asarray({draw.rates(2)})")
  scene.let("d", "objects.of_graph(pd, g, r)")
  scene.let("e", "objects.of_graph(pd, pg.lump(g).graph, r)")
  scene.let("t", f"np.asarray({draw.times()})")
  for method in ("log_prob", "log_survival_function"):
    expected = scene.value(f"d.{method}(t)")
    agree(
      f"lumped {method}", scene.value(f"e.{method}(t)"), expected, 3e-11, 1e-12
    )
  agree("mean", scene.value("e.mean()"), scene.value("d.mean()"), 1e-11)


def integrals(scene: Scene) -> None:
  """Probabilities, limited means and sums are integrals."""
  draw = scene.draw
  for name in ("d", "e"):
    _let_rates(scene)
    scene.let(name, draw.one_of(_SMOOTH))
  a = float(draw.number(0.0, 2.0))
  b = a + float(draw.number(0.1, 4.0))
  scene.let("x", f"objects.nodes({a}, {b})[0]")
  weights = scene.let("w", f"objects.nodes({a}, {b})[1]")
  ends = scene.value(f"d.cdf([{a}, {b}])")
  within = np.sum(weights * scene.value("d.prob(x)"))
  agree("integral of the density", within, ends[1] - ends[0], 1e-9, 1e-10)
  scene.let("x", f"objects.nodes(0.0, {b})[0]")
  weights = scene.let("w", f"objects.nodes(0.0, {b})[1]")
  area = np.sum(weights * scene.value("d.survival_function(x)"))
  limited = scene.value(f"d.limited_expected_value({b})")
  agree("integral of survival", area, limited, 1e-9)
  inner = scene.value("d.prob(x)") * scene.value(f"e.cdf({b} - x)")
  atom = scene.value("d.cdf(0.0)") * scene.value(f"e.cdf({b})")
  found = scene.value(f"pd.convolution([d, e]).cdf({b})")
  agree("convolution", found, np.sum(weights * inner) + atom, 1e-9, 1e-10)


def entropies(scene: Scene) -> None:
  """The entropy is the mean of minus the log density."""
  draw = scene.draw
  _let_rates(scene)
  scene.let("d", draw.one_of(_WITHOUT_ATOM))
  end = scene.let("b", "float(d.quantile(1.0 - 1e-9))")
  scene.let("x", "objects.nodes(0.0, b, 4)[0]")
  weights = scene.let("w", "objects.nodes(0.0, b, 4)[1]")
  logs = scene.value("d.log_prob(x)")
  within = -np.sum(weights * np.exp(logs) * logs)
  agree("entropy", scene.value("d.entropy()"), within, 1e-3, 1e-3 + 1e-4 * end)


def slopes(scene: Scene) -> None:
  """Forward and reverse slopes agree, with each other and with differences."""
  draw = scene.draw
  _let_rates(scene)
  scene.let("t", f"np.asarray({draw.number(0.15, 4.0)}, 'float64')")
  law, call = draw.one_of(OF_RATES), draw.one_of(OF_LAW)
  scene.let("f", f"lambda r, t: {law}.{call}")
  steps = [float(x) for x in draw.random.normals((4,))]
  scene.let("dr", f"np.asarray({steps[:3]})")
  scene.let("dt", f"np.asarray({steps[3]})")
  forward = float(scene.value("pm.jvp(f, (r, t), (dr, dt))[1]"))
  by_rate, by_time = scene.value("pm.value_and_gradient(f, r, t)[1]")
  terms = [
    *np.ravel(np.asarray(by_rate) * steps[:3]),
    float(by_time) * steps[3],
  ]
  size = float(np.sum(np.abs(terms)))
  # Where a cdf is one, what it loses and gains cancel to the last digit of one.
  slack = 1e-9 * size + (1e-15 if "cdf(" in call else 0.0)
  agree("reverse", np.sum(terms), forward, 1e-9, slack)
  h = 1e-3
  ends = [
    scene.value(f"f(r + {x} * dr, t + {x} * dt)")
    for x in (h, -h, 2 * h, -2 * h)
  ]
  with np.errstate(invalid="ignore"):  # Logarithms of zero.
    slope = (8.0 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12.0 * h)
  agree("difference", slope, forward, 1e-2, 1e-6 * (size + abs(float(ends[0]))))


def mapped(scene: Scene) -> None:
  """Models in a batch, mapped and in a loop have the values of each."""
  draw = scene.draw
  rows = [[float(draw.number(0.2, 2.5)) for _ in range(3)] for _ in range(2)]
  scene.let("rows", f"np.asarray({rows})")
  scene.let("t", f"np.asarray([{draw.number(0.15, 4.0)}, 1.0])")
  law, call = draw.one_of(OF_RATES[:-2]), draw.one_of(OF_LAW)
  scene.let("f", f"lambda r: {law}.{call}")
  alone = np.stack([scene.value(f"f(rows[{i}])") for i in range(2)])
  for way in ("mapped", "scanned"):
    found = scene.value(f"objects.{way}({scene.substrate!r}, f, rows)")
    agree(way, found, alone, 1e-12)


def observed(scene: Scene) -> None:
  """Log likelihoods are sums over observations, of whatever kind."""
  draw = scene.draw
  discrete = draw.is_likely(0.2)
  text = scene.laws.discrete_law() if discrete else scene.laws.continuous_law(2)
  if len(scene.let("d", text).batch_shape):
    return
  rows = []
  for _ in range(draw.size(5)):
    low = float(draw.number(0.01, 4.0))
    high = draw.one_of((low, low + float(draw.number(0.1, 3.0)), np.inf))
    entry = draw.one_of((-1.0, 0.0, low / 2))
    if discrete:
      low, high, entry = (np.floor(4.0 * x) for x in (low, high, entry))
      entry = entry if entry < low else -1.0
    rows.append(
      (float(low), float(high), float(draw.integer(1, 3)), float(entry))
    )
  lower, upper, weights, entry = (list(x) for x in zip(*rows, strict=True))
  scene.let(
    "o", f"inference.Observations({lower}, {upper}, {weights}, {entry})"
  )
  expected, size = 0.0, 1.0
  for low, high, weight, late in rows:
    if low == high:
      own = scene.value(f"d.log_prob({low})")
    else:
      sf = scene.value(f"d.survival_function([{low}, {high}])")
      if not sf[0] - sf[1] > max(1e-4 * sf[0], 1e-290):
        return  # Digits would be lost here.
      own = np.log(sf[0] - sf[1])
    if late >= 0.0:
      own = own - scene.value(f"d.log_survival_function({late})")
    expected, size = expected + weight * own, size + weight * abs(own)
  agree(
    "log likelihood",
    scene.value("o.log_likelihood(d)"),
    expected,
    1e-9,
    1e-9 * size,
  )


def fits(scene: Scene) -> None:
  """A fit is no worse than where it began, and keeps what it was told to."""
  draw = scene.draw
  if draw.is_likely(0.75):
    return  # A fit takes as long as a hundred other cases.
  times = [float(draw.number(0.05, 5.0)) for _ in range(draw.size(30, 8))]
  seen = [float(draw.is_likely(0.8)) for _ in times]
  scene.let("o", f"inference.Observations.right_censored({times}, {seen})")
  r = [float(draw.number(0.3, 2.0)) for _ in range(3)]
  law, name = draw.one_of(
    (
      (f"pd.Hypoexponential({r})", "rates"),
      (f"pd.Coxian({r[:1]}, {r[1:]})", "exit_rates"),
      (f"pd.Hyperexponential([0.4, 0.6], {r[:2]})", "rates"),
      (f"pd.HyperErlang([0.4, 0.6], (1, 2), {r[:2]})", "rates"),
      (f"pd.AcyclicPhaseType([0.4, 0.6], {sorted(r[:2])})", "initial_probs"),
    )
  )
  scene.let("d", law)
  option = draw.one_of(
    (
      *("", f", fixed=['{name}[0]']", ", num_starts=2"),
      *(
        f", bounds={{'{name}': (0.25, 2.5)}}",
        f", tied=[('{name}[0]', '{name}[1]')]",
      ),
    )
    if name != "initial_probs"
    else ("", ", num_starts=2")
  )
  method = "fit_mle"
  if not option.startswith(", tied") and draw.is_likely(0.3):
    method = "fit_em"
  scene.let("fit", f"inference.{method}(d, o{option})")
  first, last = (
    scene.value("o.log_likelihood(d)"),
    scene.value("fit.log_likelihood"),
  )
  agree(
    "log likelihood",
    scene.value("o.log_likelihood(fit.distribution)"),
    last,
    1e-9,
  )
  if not option.startswith(", tied") and last < first - 1e-7 * (
    1.0 + abs(first)
  ):
    raise Fault(f"the fit has {last!r}, its start {first!r}")
  found = np.asarray(scene.value(f"fit.distribution.parameters[{name!r}]"))
  if "Hypo" in law and not option and scene.let("ends", "fit.record.converged"):
    slope = (
      "pm.value_and_gradient(lambda r: o.log_likelihood(pd.Hypoexponential(r)),"
    )
    at_end = scene.value(f"{slope} fit.distribution.parameters['rates'])[1]")
    agree("slopes at an optimum", at_end * found, 0.0 * found, 0.0, 1e-3)
  if "fixed" in option and found[0] != scene.value(
    f"d.parameters[{name!r}][0]"
  ):
    raise Fault(f"a fixed parameter is {found[0]!r}")
  if "bounds" in option and np.any(
    (found < 0.25 - 1e-9) | (found > 2.5 + 1e-9)
  ):
    raise Fault(f"beyond bounds: {found}")
  if "tied" in option and found[0] != found[1]:
    raise Fault(f"tied: {found}")


def _let_rates(scene: Scene) -> None:
  """Names the three rates that `OF_RATES` are functions of."""
  rates = ", ".join(scene.draw.number(0.2, 2.5) for _ in range(3))
  scene.let("r", f"np.asarray([{rates}])")


JUDGES = (forms, lumped, integrals, entropies, slopes, mapped, observed, fits)
