"""Valid calls of graphs, fits and others in NumPy, by argument names."""

from collections.abc import Iterator
import math
from typing import Any

import numpy as onp

from tests.cross import comparisons
from tests.cross.valid_calls import ARRAY
from tests.cross.valid_calls import Call
from tests.cross.valid_calls import X
from tests.cross.valid_calls import call

PARAMS = {"wear": 0.5}
BUILD = {"discrete": False, "max_states": 10, "allow_never_absorbing": False}


def transitions(n: int) -> Iterator[Any]:
  """Yields the merger of a pair of n lineages."""
  yield (n - 1 if n > 2 else X.graphs.ABSORBED), {"pairs": n * (n - 1) / 2}


def graphs() -> Iterator[Call]:
  """Yields calls of constructors and methods of graphs."""
  g = X.graphs
  machine, absorbed = X.machine(), g.ABSORBED
  yield call(
    g.Graph,
    sources=[0],
    targets=[1],
    constants=[1.0],
    coefficients=onp.zeros((1, 0)),
    initial_constants=[1.0, 0.0],
    initial_coefficients=onp.zeros((2, 0)),
    parameter_names=(),
    causes=(None,),
    discrete=False,
    states=("a",),
    notes=(),
  )
  yield call(g.Absorbed, cause="a")
  yield call(g.ABSORBED, cause="a")
  yield call(
    g.Graph.from_transitions,
    "initial",
    transitions=transitions,
    initial=4,
    params=("pairs",),
    progress=False,
    **BUILD,
  )
  edges = [("a", absorbed, 1.0)]
  yield call(
    g.Graph.from_edges, "initial", edges=edges, initial="a", params=0, **BUILD
  )
  yield call(
    g.Graph.from_matrices,
    "states",
    "exits",
    initial_probs=ARRAY([0.5, 0.25]),
    matrix=ARRAY([[0.0, 1.0], [0.5, 0.0]]),
    exits=ARRAY([0.25, 1.0]),
    prob_zero=ARRAY(0.25),
    discrete=False,
    states=["a", "b"],
    allow_never_absorbing=False,
  )
  yield call(g.Graph.from_json, text=machine.to_json())
  yield call(
    g.Graph.from_networkx,
    "initial",
    network=machine.to_networkx(),
    initial="up",
    params=("wear",),
    weight="weight",
    absorbing={},
    **BUILD,
  )
  for name in ("edge_values", "initial_probs", "params_array", "prob_zero"):
    yield call(getattr(machine, name), params=PARAMS)
  yield call(machine.edge_weights, params=PARAMS, edge_values=None)
  yield call(machine.index_of, state="up")
  yield call(machine.plot, axes=None, params=PARAMS, max_phases=100)


def transformations() -> Iterator[Call]:
  """Yields calls of functions of graphs."""
  g = X.graphs
  pair, one = g.models.kingman(3), {"coalescence": 1.0}
  rewards = ARRAY([1.0, 2.0])
  yield call(
    g.with_event_counts, graph=pair, rate=2.0, rewards=rewards, params=one
  )
  yield call(
    g.log_prob_and_moments,
    graph=X.machine(),
    params=PARAMS,
    values=ARRAY([0.5, 2.0]),
    rewards=rewards,
    order=2,
  )
  yield call(g.lump, "partition", graph=pair, partition=None, rewards=rewards)
  yield call(g.lump, "partition", graph=pair, partition=["a", "b"])
  yield call(g.embedded_jump_chain, graph=pair, params=one)
  yield call(g.reverse, graph=pair, params=one)
  yield call(g.strongly_connected_components, graph=pair)
  yield call(g.first_passage_time, graph=pair, states=[2])


def models() -> Iterator[Call]:
  """Yields calls of ready models."""
  m = X.graphs.models
  for name in ("kingman", "block_counting", "two_locus_coalescent"):
    yield call(getattr(m, name), num_samples=3, max_states=1000)
  for name in ("lambda_coalescent", "lambda_block_counting"):
    yield call(getattr(m, name), num_samples=3, max_states=1000)
  for name in ("island_coalescent", "structured_coalescent"):
    yield call(getattr(m, name), num_samples=[2, 1], max_states=1000)
  yield call(m.isolation_with_migration, num_samples=[2, 1], max_states=1000)
  yield call(
    m.joint_block_counting, num_samples=[1, 1], num_demes=2, max_states=1000
  )
  both = m.joint_block_counting([1, 1])
  yield call(m.joint_spectrum_rewards, graph=both)
  yield call(m.beta_rates, graph=m.lambda_coalescent(3), alpha=1.5)
  yield call(m.psi_rates, graph=m.lambda_coalescent(3), psi=0.5)
  yield call(m.birth_death, initial=2, maximum=3)
  yield call(m.busy_period, capacity=2, servers=1)
  yield call(m.tandem_queue, capacity=2)
  yield call(m.machine_repair, machines=2, repairers=1)
  yield call(m.folded_spectrum, spectrum=ARRAY([2.0, 1.0]))
  yield call(m.kingman_spectrum, times=ARRAY([2.0, 1.0]))
  yield call(
    m.spectrum_log_likelihood,
    counts=ARRAY([3.0, 1.0]),
    lengths=ARRAY([2.0, 1.0]),
    mutation_rate=1.0,
  )
  yield call(m.merge_demes, source=2, target=1)


def observations() -> Iterator[Call]:
  """Yields calls of the constructors and methods of `Observations`."""
  cls = comparisons.in_numpy.inference.Observations
  times, weights = ARRAY([0.5, 1.0, 2.0]), ARRAY([1.0, 1.0, 2.0])
  more = {"weights": weights, "entry": times / 2, "cause": [0, 0, 0]}
  yield call(cls, lower=times, upper=times + 1, **more)
  yield call(cls.exact, times=times, **more)
  yield call(cls.right_censored, times=times, observed=[1, 0, 1], **more)
  yield call(cls.grouped, edges=[0.0, 1.0, math.inf], counts=[10, 4])
  table = {"a": [3.0, 7.5], "b": [1, 0], "w": [1.0, 2.0], "c": ["x", "y"]}
  yield call(
    cls.from_table,
    table=table,
    time="a",
    event="b",
    lower=None,
    upper=None,
    weight="w",
    entry=None,
    cause="c",
    causes=("x", "y"),
  )
  for name in ("check_fits", "log_likelihood", "log_likelihood_terms"):
    yield call(getattr(cls(times), name), distribution=X.erlang())


def fits() -> Iterator[Call]:
  """Yields calls of functions that fit, choose and compare."""
  i, pd = comparisons.in_numpy.inference, X.pd
  data = i.Observations(ARRAY([0.5, 1.0, 2.0]), ARRAY([0.5, 1.0, 2.5]))
  x = {"observations": data}
  one, coxian = pd.Erlang(1, 1.0), pd.Coxian([1.0], [0.25, 1.0])
  small, large = i.fit_mle(one, data), i.fit_em(coxian, data, max_steps=2)
  search = {"seed": 0, "tolerance": 1e-6, "max_steps": 2, "num_starts": 1}
  search["progress"] = False
  yield call(i.em_step, dist=coxian, **x)
  yield call(i.add_phase, dist=coxian)
  yield call(
    i.choose_num_phases,
    start=lambda p: pd.Erlang(p, 0.5 * p),
    **x,
    num_phases=(1, 2),
    criterion="bic",
    max_steps=3,
  )
  yield call(i.fit_em, dist=one, **x, second_order=True, **search)
  names = {"fixed": (), "tied": (), "free": ()}
  yield call(
    i.fit_mle, dist=one, **x, bounds=None, starts=(), **names, **search
  )
  yield call(i.initial_guess, **x, num_phases=2, form="coxian")
  yield call(i.likelihood_ratio, smaller=small, larger=large)
  yield call(i.match_moments, mean=2.0, second=7.0, third=40.0, num_phases=None)
  yield call(i.match_moments, mean=2.0, second=7.0, third=None, num_phases=4)
  yield call(
    i.maximize,
    log_likelihood=lambda rate: data.log_likelihood(pd.Erlang(1, rate)),
    start=ARRAY(1.0),
    bounds=(0.0, onp.inf),
    starts=(),
    max_steps=5,
    tolerance=1e-9,
  )
  yield call(
    i.observations_from_density,
    density=lambda t: t * onp.exp(-t),
    scale=1.0,
    tolerance=1e-4,
  )
  yield call(i.unconstrained, dist=coxian, **names)
  yield call(small.standard_error_of, f=lambda dist: dist.mean())
  resamples = {"num_resamples": 2, "seed": 0, "method": "cases"}
  resamples |= {"clusters": None, "executor": None, "progress": False}
  yield call(i.bootstrap, fit=small, **resamples)
  result = i.bootstrap(small, 2)
  yield call(result.fitted, i=1)
  yield call(result.standard_error_of, f=lambda dist: dist.mean())
  interval = {"confidence_level": 0.9, "method": "normal"}
  yield call(result.confidence_interval, f=lambda dist: dist.mean(), **interval)


def plots() -> Iterator[Call]:
  """Yields calls of estimates and of plots."""
  i = comparisons.in_numpy.inference
  data = i.Observations.right_censored(ARRAY([1.0, 2.0, 5.0]), [1, 1, 0])
  both = {"observations": data, "axes": None}
  one = {"distribution": X.erlang(), **both}
  draws = X.pd.Erlang(2, ARRAY([0.5, 0.6]))
  yield call(i.kaplan_meier, observations=data)
  more = {"label": "fit", "covariates": None, "confidence_level": 0.9}
  yield call(i.plot_hazard, **one, num_groups=2, **more)
  yield call(i.plot_posterior_predictive, draws=draws, **both, seed=1)
  yield call(i.plot_quantiles, **one)
  yield call(i.plot_survival, **one, **more, times=ARRAY([0.5, 1.0]))
  yield call(
    i.plot_coefficients,
    fit=i.fit_mle(X.pd.Erlang(1, 1.0), data),
    names=["rate"],
    axes=None,
    exponentiate=False,
    confidence_level=0.9,
    robust=False,
  )


def covariates() -> Iterator[Call]:
  """Yields calls of designs."""
  c = comparisons.in_numpy.covariates
  table = {"age": [50.0, 61.0, 48.0], "sex": ["f", "m", "m"]}
  yield call(c.design, effect="age + sex", covariates=table)
  yield call(c.design, effect=["age"], covariates=table)
  yield call(c.design, effect=ARRAY([1.0, 2.0, 5.0]), covariates=table)
  yield call(c.column, covariates=table, name="sex", num_rows=3)
  yield call(c.design("age + sex", table).evaluate, covariates=table)
  yield call(c.design(["age"], table).evaluate, covariates=table)
  yield call(c.design([1.0, 2.0]).evaluate, covariates=[3.0])


def others() -> Iterator[Call]:
  """Yields calls of settings, of bindings and of SciPy's adapter."""
  config, binding = comparisons.in_numpy.config, comparisons.in_numpy.binding
  scipy = comparisons.in_numpy.interop.scipy

  def double(x: Any) -> Any:
    return 2.0 * x

  how = {"abstract": None, "batching": "sequential", "name": None}
  yield call(config.set_num_threads, count=config.num_threads())
  yield call(config.use_path, choice="auto")
  rules = {"jvp": None, "vjp": None, "nondifferentiable": ()}
  yield call(binding.bind, f=double, **rules, **how)
  yield call(binding.bind_linear, f=double, transpose=None, num_fixed=0, **how)
  yield call(
    binding.bind_multilinear,
    f=double,
    transposes=(double,),
    num_fixed=0,
    **how,
  )
  yield call(binding.array_code, rule=double)
  yield call(binding.ArraySpec, "shape", shape=(2,), dtype="float64")
  yield call(scipy.wrap, distribution=X.erlang())
  frozen = scipy.wrap(X.erlang())
  for name in ("pdf", "cdf", "logsf"):
    yield call(getattr(frozen, name), x=ARRAY([1.0]))
  for name in ("ppf", "isf"):
    yield call(getattr(frozen, name), q=ARRAY([0.5]))
  yield call(frozen.expect, func=None, lb=0.0, ub=1.0, conditional=False)
