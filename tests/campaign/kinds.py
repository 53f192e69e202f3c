"""Kinds of arguments, by the names of parameters, and instances of classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tests.campaign import draws
from tests.campaign import laws

_GRAPH = "pg.models.birth_death(1, 4)"
_DATA = "inference.Observations.exact([0.5, 1.0, 2.5, 0.7])"
# Instances whose methods are called, by class.
INSTANCES = {
  "Graph": _GRAPH,
  "Observations": _DATA,
  "Fit": f"inference.fit_mle(pd.Erlang(2, 1.0), {_DATA})",
  "Regression": "regression.Regression(pd.Erlang(2, 1.0), time=['age'])",
  "DiscretePhaseType": "pd.DiscretePhaseType([0.5, 0.5], objects.steps(2, 1))",
  "PhaseType": "pd.PhaseType([0.2, 0.8], objects.chain(2, 1))",
  "AcyclicPhaseType": "pd.AcyclicPhaseType([0.2, 0.8], [1.0, 2.0])",
  "Coxian": "pd.Coxian([1.0], [0.5, 2.0])",
  "Epochs": (f"pd.Epochs({_GRAPH}, [[1.0, 2.0], [0.5, 1.0]], [0.7])"),
  "Equilibrium": "pd.Equilibrium(pd.Erlang(2, 1.0))",
  "Erlang": "pd.Erlang(3, 1.5)",
  "GeometricMixture": "pd.GeometricMixture([0.3, 0.7], [0.2, 0.9])",
  "GraphPhaseType": f"pd.GraphPhaseType({_GRAPH}, [1.0, 2.0])",
  "GraphDiscretePhaseType": (
    "pd.GraphDiscretePhaseType(pg.Graph.from_edges([(0, 0, 0.5), "
    "(0, pg.ABSORBED, 0.5)], 0, discrete=True))"
  ),
  "GraphMultivariatePhaseType": (
    f"pd.GraphMultivariatePhaseType({_GRAPH}, [1.0, 2.0], "
    "np.asarray([[1.0, 2.0], [0.5, 0.0], [1.0, 1.0], [0.0, 1.0]]))"
  ),
  "HyperErlang": "pd.HyperErlang([0.3, 0.7], (1, 3), [1.0, 2.0])",
  "Hyperexponential": "pd.Hyperexponential([0.3, 0.7], [1.0, 2.0])",
  "Hypoexponential": "pd.Hypoexponential([1.0, 2.0])",
  "MatrixGompertz": "pd.MatrixGompertz(pd.Erlang(2, 1.0), 0.5)",
  "MatrixLogLogistic": "pd.MatrixLogLogistic(pd.Erlang(2, 1.0), 1.0, 3.0)",
  "MatrixLogNormal": "pd.MatrixLogNormal(pd.Erlang(2, 1.0), 2.0)",
  "MatrixPareto": "pd.MatrixPareto(pd.Erlang(2, 5.0), 1.0)",
  "MatrixWeibull": "pd.MatrixWeibull(pd.Erlang(2, 1.0), 0.7)",
  "MultivariateEpochs": (
    f"pd.MultivariateEpochs(pd.Epochs({_GRAPH}, [[1.0, 2.0], [0.5, 1.0]], "
    "[0.7]), np.asarray([[1.0, 2.0], [0.5, 0.0], [1.0, 1.0], [0.0, 1.0]]))"
  ),
  "MultivariatePhaseType": (
    "pd.MultivariatePhaseType([0.2, 0.8], objects.chain(2, 1), "
    "[[1.0, 0.5], [0.0, 2.0]])"
  ),
  "NegativeBinomialFailures": "pd.NegativeBinomialFailures(3, 0.4)",
  "NegativeBinomialTrials": "pd.NegativeBinomialTrials(3, 0.4)",
  "ResidualLife": "pd.ResidualLife(pd.Erlang(2, 1.0), 0.5)",
  "Shifted": "pd.Shifted(pd.Erlang(2, 1.0), 0.5)",
  "TruncatedPhaseType": "pd.TruncatedPhaseType(pd.Erlang(2, 1.0), 0.5, 3.0)",
  "ZeroInflated": "pd.ZeroInflated(pd.Erlang(2, 1.0), 0.3)",
}


class Entry(NamedTuple):
  """A public name that can be called.

  Attributes:
    name: relative to the substrate.
    target: the expression that is called.
    parameters: names of its parameters, with whether each is needed.
    is_call: whether it is called, and not only read.
  """

  name: str
  target: str
  parameters: tuple[tuple[str, bool], ...]
  is_call: bool


class Arguments:
  """Draws arguments of the kind that a parameter's name asks for."""

  def __init__(self, draw: draws.Draw) -> None:
    self.draw = draw
    self.laws = laws.Laws(draw)

  def argument(self, parameter: str) -> str:
    """Draws a plausible argument."""
    return KINDS[parameter](self)

  def call(self, entry: Entry) -> str:
    """Draws a call, of which up to two arguments may be anything."""
    if not entry.is_call:
      return entry.target
    draw = self.draw
    given: list[tuple[str, str]] = []
    for name, needed in entry.parameters:
      if needed or draw.is_likely(0.25):
        given.append((name, self.argument(name)))
    for _ in range(draw.one_of((0, 1, 1, 2)) if given else 0):
      i = int(draw.random.integers(len(given)))
      given[i] = (given[i][0], draw.hostile())
    needed_names = [name for name, needed in entry.parameters if needed]
    shown = [text for name, text in given if name in needed_names]
    shown += [f"{name}={x}" for name, x in given if name not in needed_names]
    return f"{entry.target}({', '.join(shown)})"


_Kind = Callable[[Arguments], str]


def _plain(*texts: str) -> _Kind:
  return lambda a: str(a.draw.one_of(texts))


_LAW: _Kind = lambda a: a.laws.phase_law(1)
_RATE: _Kind = lambda a: a.draw.rate()
_RATES: _Kind = lambda a: a.draw.array(a.draw.rates(3))
_PROB: _Kind = lambda a: a.draw.prob()
_PROBS: _Kind = lambda a: a.draw.array(a.draw.probs(3))
_TIMES: _Kind = lambda a: a.draw.times()
_COUNT: _Kind = lambda a: a.draw.integer(0, 5)
_FLAG = _plain("True", "False")
_NONE = _plain("None")
_DATA_KIND = _plain(
  _DATA,
  "inference.Observations.right_censored([1.0, 2.0, 0.3], [1, 0, 1])",
  "inference.Observations([0.0, 1.0], [2.0, inf], [1.0, 3.0])",
  "inference.Observations([3.0, 1.0], None, None, [0.5, -1.0])",
  "inference.Observations.exact([0.0, 0.0, 1.0, 2.0])",
)
_GRAPHS = _plain(_GRAPH, "pg.models.kingman(4)", "pg.models.tandem_queue(2)")
_FUNCTION = _plain(
  "lambda x: np.sum(x)", "lambda x: x * 2.0", "lambda *x: x[0]", "lambda x: 'a'"
)
_EDGES = _plain(
  "[(0, 1, 1.0), (1, pg.ABSORBED, 2.0)]", "[(0, 1, {'a': 1.0})]", "[(0, 1)]"
)
_REWARDS = _plain(
  "np.ones((2, 3))", "np.ones(3)", "[[1.0, 0.0, 2.0]]", "np.ones((2, 2))"
)
_TEXT = _plain(
  f"{_GRAPH}.to_json()",
  f"{_GRAPH}.to_json()[:-9]",
  f"{_GRAPH}.to_json().replace('1', '1000000000')",
  f"{_GRAPH}.to_json().replace('0', '-1')",
  "pd.ZeroInflated(pd.Erlang(2, 1.5), 0.25).to_json()",
  "pd.ZeroInflated(pd.Erlang(2, 1.5), 0.25).to_json().replace('1.5', '-2')",
  "pd.ZeroInflated(pd.Erlang(2, 1.5), 0.25).to_json().replace('[]', '[3]')",
  "'null'",
  "'[' * 100000",
)

KINDS: dict[str, _Kind] = {
  "value": _TIMES,
  **dict.fromkeys(("initial_probs", "mixture_probs", "probs"), _PROBS),
  **dict.fromkeys(("rates", "progression_rates", "mark_rates"), _RATES),
  **dict.fromkeys(("success_prob", "prob_zero", "psi", "alpha"), _PROB),
  **dict.fromkeys(("rate", "scale", "growth_rate", "mutation_rate"), _RATE),
  **dict.fromkeys(
    ("u", "s", "z", "time", "until", "since", "delay", "survived"), _TIMES
  ),
  **dict.fromkeys(("low", "high", "lower", "upper", "entry", "times"), _TIMES),
  **dict.fromkeys(("mean", "second", "third", "event", "observed"), _TIMES),
  **dict.fromkeys(("x", "boundaries", "weights", "values", "edges_"), _TIMES),
  **dict.fromkeys(("continuation_probs", "success_probs"), _PROBS),
  **dict.fromkeys(("distribution", "dist", "other", "p", "q"), _LAW),
  **dict.fromkeys(("num_successes", "concentrations", "n", "k"), _COUNT),
  **dict.fromkeys(("num_jumps", "order", "num_samples", "capacity"), _COUNT),
  **dict.fromkeys(("machines", "repairers", "servers", "initial"), _COUNT),
  **dict.fromkeys(("maximum", "num_phases", "num_demes", "index"), _COUNT),
  **dict.fromkeys(
    ("cause", "seed", "max_phases", "state", "num_fixed"), _COUNT
  ),
  **dict.fromkeys(("source", "target", "num_groups", "num_starts"), _COUNT),
  "num_resamples": _COUNT,
  **dict.fromkeys(("validate_args", "allow_nan_stats", "discrete"), _FLAG),
  **dict.fromkeys(("allow_never_absorbing", "progress", "by_epoch"), _FLAG),
  **dict.fromkeys(("second_order", "joint", "nondifferentiable"), _FLAG),
  **dict.fromkeys(("label", "axes", "structure"), _NONE),
  **dict.fromkeys(("clusters", "executor"), _NONE),
  **dict.fromkeys(("exit_rates", "exit_probs", "state_maps"), _NONE),
  **dict.fromkeys(("edge_values", "impulse_rewards", "network"), _NONE),
  **dict.fromkeys(("abstract", "jvp", "vjp", "transpose", "portable"), _NONE),
  **dict.fromkeys(("tf_library", "declaration", "handler", "sizes"), _NONE),
  **dict.fromkeys(("f", "log_likelihood", "density", "function"), _FUNCTION),
  **dict.fromkeys(("params", "parameters"), _RATES),
  **dict.fromkeys(("graph", "graphs"), _GRAPHS),
  **dict.fromkeys(("observations", "data", "draws"), _DATA_KIND),
  **dict.fromkeys(("smaller", "larger", "fit"), _plain(INSTANCES["Fit"])),
  **dict.fromkeys(
    ("fixed", "tied", "free", "starts"), _plain("()", "['rate']")
  ),
  **dict.fromkeys(
    ("tangents", "primals", "args"), _plain("(1.0,)", "([1.0],)")
  ),
  **dict.fromkeys(("weight", "library", "on"), _plain("'weight'")),
  **dict.fromkeys(("forward", "adjoint", "transposes"), _plain("()")),
  "cotangent": _plain("1.0"),
  "name": _plain("None", "'age'"),
  "effect": _plain("'age + C(sex)'", "['age']", "[1.0, 2.0, 5.0]", "'0 + age'"),
  "covariates": _plain(
    "{'age': [50.0, 61.0, 48.0], 'sex': ['f', 'm', 'm']}", "{'age': [1, None]}"
  ),
  "reference": _plain("{'age': [50.0], 'sex': ['m']}"),
  **dict.fromkeys(("intensity", "strata", "offsets"), _NONE),
  **dict.fromkeys(("robust", "intercept", "exponentiate"), _FLAG),
  "names": _plain("['rate']", "None", "['no']"),
  "confidence_level": _plain("0.95", "0.5", "1.0"),
  "penalizer": _plain("0.0", "0.1", "-1.0"),
  "bootstrap": _NONE,
  "column": _plain("'age'", "'no'"),
  "levels": _plain("[50.0, 60.0]", "[]"),
  "num_rows": _plain("None", "3", "2"),
  "max_count": _plain("None", "60", "3"),
  "tail": _plain("1e-30", "1e-3", "0.0"),
  "concentration": _plain("1", "2", "3", "0.5", "[1, 2]", "2.0"),
  "sample_shape": _plain("()", "(2,)", "3", "(2, 0)", "(2, 3)"),
  "method": _plain(
    "'log_prob'", "'mean'", "'quantile'", "'sample'", "'no'", "'cases'"
  ),
  "kind": _plain("'log_prob'", "'log_survival_function'", "'no'"),
  "quantity": _plain("lambda d: d.mean()"),
  "criterion": _plain("'bic'", "'aic'", "'no'"),
  "form": _plain("'coxian'", "'acyclic'", "'general'", "'no'"),
  "batching": _plain("'sequential'", "'expand'", "'no'"),
  "subgenerator": _plain(
    "objects.chain(3, 1)", "objects.chain(0, 1)", "[[-1.0]]"
  ),
  "generator": _plain(
    "[[-1.0, 1.0], [2.0, -2.0]]",
    "[[0.5, 0.5], [1.0, 0.0]]",
    "objects.chain(3, 1)",
  ),
  "up": _plain("[0]", "[1, 2]", "lambda state: True"),
  "subtransition": _plain("objects.steps(3, 1)", "objects.steps(0, 1)"),
  "matrix": _plain("objects.chain(3, 1)", "objects.sparse('csr')"),
  "exits": _plain("None", "[0.1, 0.2, 0.3]"),
  "rewards": _REWARDS,
  "orders": _plain("(1, 1)", "[2, 0]", "(1,)"),
  "max_counts": _plain("3", "(1, 2)", "10"),
  "distributions": lambda a: f"[{a.laws.phase_law(1)}, {a.laws.phase_law(1)}]",
  "count": lambda a: a.laws.discrete_law(),
  "model": _plain("([1.0], [[-2.0]])"),
  "states": _plain("[0]", "[1, 2]", "None"),
  "partition": _plain("None", "[[0, 1], [2, 3]]"),
  "edges": _EDGES,
  "transitions": lambda a: (
    "objects.transitions('"
    + a.draw.one_of(
      ("good", "endless", "negative", "nothing", "text", "raises")
    )
    + "')"
  ),
  "text": _TEXT,
  "absorbing": _plain("None", "[1]"),
  "sources": _plain("[0, 1]"),
  "targets": _plain("[1, 2]"),
  "constants": _plain("[1.0, 2.0]"),
  "coefficients": _plain("np.zeros((2, 0))"),
  "initial_constants": _plain("[1.0, 0.0]"),
  "initial_coefficients": _plain("np.zeros((2, 0))"),
  "parameter_names": _NONE,
  "causes": _plain("(None,)"),
  "notes": _plain("()"),
  "phases": _plain("[0]", "[0, 2]"),
  "max_states": _plain("10", "1000"),
  "tolerance": _plain("1e-6", "1e-300", "0.0"),
  "max_steps": _plain("0", "5", "50"),
  "bounds": _plain("None", "{'rate': (0.1, 2.0)}"),
  "spectrum": _plain("pg.models.kingman(4)"),
  "lengths": _plain("[1.0, 0.5, 0.2]"),
  "counts": _plain("[3, 1, 0]", "[0.5, 1.0, 2.0]"),
  "table": _plain("{'time': [1.0, 2.0], 'event': [1, 0]}"),
  "start": _plain(
    "pd.Erlang(2, 1.0)", "{'a': 1.0}", "lambda p: pd.Erlang(p, 1.0)"
  ),
  "dtype": _plain("'float64'"),
  "overrides": _NONE,
  "options": _NONE,
  "rule": _plain("'double'"),
}
