"""Distributions of every class, and arguments for each of their methods."""

from collections.abc import Callable, Mapping
import inspect
from typing import Any

import jax
import numpy as onp

from tests.cross import comparisons
from tests.cross import public_math_cases as math_cases

INITIAL, RATES, EXITS, ATOM = math_cases.MODEL
FOUR_EDGES = ([0, 0, 1, 1], [1, 2, 0, 2])


class Substrate:
  """The packages of a substrate, and its float64 arrays."""

  def __init__(self, name: str):
    self.name = name
    self.graphs = comparisons.SUBSTRATES[name].graphs
    self.math = comparisons.SUBSTRATES[name].math
    self.pd = comparisons.SUBSTRATES[name].distributions

  def array(self, x: Any) -> Any:
    return comparisons.to_substrate(onp.asarray(x, "float64"), self.name)

  def seed(self, number: int) -> Any:
    return jax.random.key(number) if self.name == "jax" else number

  def erlang(self) -> Any:
    return self.pd.Erlang(2, self.array(0.8))

  def trials(self) -> Any:
    return self.pd.NegativeBinomialTrials(2, self.array(0.3))

  def machine(self) -> Any:
    """A graph with two causes of absorption and one parameter."""
    absorbed = self.graphs.ABSORBED
    edges = [
      ("up", "down", {"wear": 0.25}),
      ("up", absorbed("scrap"), {"wear": 1.0}),
      ("down", "up", 3.0),
      ("down", absorbed, {"wear": 0.5, 1: 1.0}),
    ]
    return self.graphs.Graph.from_edges(edges, "up", params=("wear",))

  def coin(self) -> Any:
    """A discrete graph with two causes of absorption and one parameter."""
    absorbed = self.graphs.ABSORBED
    edges = [
      ("first", "second", {"q": 1.0}),
      ("first", absorbed("tail"), {1: 1.0, "q": -1.0}),
      ("second", "first", 0.5),
      ("second", absorbed, 0.25),
      ("second", "second", 0.25),
    ]
    return self.graphs.Graph.from_edges(
      edges, "first", params=("q",), discrete=True
    )


def _matrix_options(x: Substrate) -> tuple[Any, ...]:
  return tuple(x.array(y) for y in math_cases.MODEL)


FAMILIES: dict[str, Callable[[Substrate], Any]] = {
  "PhaseType": lambda x: x.pd.PhaseType(*_matrix_options(x)),
  "DiscretePhaseType": lambda x: x.pd.DiscretePhaseType(
    *(x.array(y) for y in math_cases.STEPS)
  ),
  "AcyclicPhaseType": lambda x: x.pd.AcyclicPhaseType(
    x.array([0.25, 0.5]), x.array([0.5, 2.0])
  ),
  "Coxian": lambda x: x.pd.Coxian(x.array([2.0]), x.array([1.0, 0.25])),
  "Epochs": lambda x: x.pd.Epochs(
    x.machine(), [x.array([0.5]), x.array([1.5])], x.array([0.75])
  ),
  "Equilibrium": lambda x: x.pd.Equilibrium(x.erlang()),
  "Erlang": lambda x: x.erlang(),
  "GeometricMixture": lambda x: x.pd.GeometricMixture(
    x.array([0.75, 0.25]), x.array([0.5, 0.0625])
  ),
  "GraphDiscretePhaseType": lambda x: x.pd.GraphDiscretePhaseType(
    x.coin(), x.array([0.25])
  ),
  "GraphMultivariatePhaseType": lambda x: x.pd.GraphMultivariatePhaseType(
    x.machine(), x.array([0.5]), x.array([[1.0, 0.0], [0.5, 2.0]])
  ),
  "GraphPhaseType": lambda x: x.pd.GraphPhaseType(x.machine(), x.array([0.5])),
  "HyperErlang": lambda x: x.pd.HyperErlang(
    x.array([0.5, 0.5]), (1, 2), x.array([2.0, 0.25])
  ),
  "Hyperexponential": lambda x: x.pd.Hyperexponential(
    x.array([0.75, 0.25]), x.array([3.0, 0.5])
  ),
  "Hypoexponential": lambda x: x.pd.Hypoexponential(x.array([2.0, 0.3])),
  "MatrixGompertz": lambda x: x.pd.MatrixGompertz(x.erlang(), x.array(0.5)),
  "MatrixLogLogistic": lambda x: x.pd.MatrixLogLogistic(
    x.erlang(), x.array(1.5), x.array(2.25)
  ),
  "MatrixLogNormal": lambda x: x.pd.MatrixLogNormal(x.erlang(), x.array(1.7)),
  "MatrixPareto": lambda x: x.pd.MatrixPareto(x.erlang(), x.array(1.5)),
  "MatrixWeibull": lambda x: x.pd.MatrixWeibull(x.erlang(), x.array(1.7)),
  "MultivariateEpochs": lambda x: x.pd.MultivariateEpochs(
    x.pd.Epochs(x.machine(), [x.array([0.5]), x.array([1.5])], x.array([0.75])),
    x.array([[1.0, 0.0], [0.5, 2.0]]),
  ),
  "MultivariatePhaseType": lambda x: x.pd.MultivariatePhaseType(
    x.array([1.0, 0.0]),
    x.array([[-2.0, 1.0], [0.0, -4.0]]),
    x.array(onp.eye(2)),
  ),
  "NegativeBinomialFailures": lambda x: x.pd.NegativeBinomialFailures(
    2, x.array(0.3)
  ),
  "NegativeBinomialTrials": lambda x: x.trials(),
  "ResidualLife": lambda x: x.pd.ResidualLife(x.erlang(), x.array(2.5)),
  "Shifted": lambda x: x.pd.Shifted(x.erlang(), x.array(0.05)),
  "TruncatedPhaseType": lambda x: x.pd.TruncatedPhaseType(
    x.erlang(), x.array(0.05), x.array(64.0)
  ),
  "ZeroInflated": lambda x: x.pd.ZeroInflated(x.erlang(), x.array(0.25)),
}

# The same classes with other arguments.
OF_EDGES: dict[str, Callable[[Substrate], Any]] = {
  "DiscretePhaseType of edges": lambda x: x.pd.DiscretePhaseType(
    x.array([0.75, 0.25]),
    x.math.EdgeProbs(*FOUR_EDGES, x.array([0.25, 0.125, 0.5, 0.0625])),
  ),
  "MultivariatePhaseType of edges": lambda x: x.pd.MultivariatePhaseType(
    x.array([1.0, 0.0]),
    x.math.EdgeRates([0, 0, 1], [1, 2, 2], x.array([1.0, 1.0, 4.0])),
    x.array(onp.eye(2)),
  ),
  "PhaseType of edges": lambda x: x.pd.PhaseType(
    x.array([0.75, 0.25]),
    x.math.EdgeRates(*FOUR_EDGES, x.array([2.0, 0.5, 0.125, 1.0])),
  ),
}

FUNCTIONS: dict[str, Callable[[Substrate], Any]] = {
  "convolution": lambda x: x.pd.convolution([x.erlang(), x.erlang()]),
  "finite_count": lambda x: x.pd.finite_count(x.array([0.25, 0.5, 0.25])),
  "maximum": lambda x: x.pd.maximum([x.erlang(), x.erlang()]),
  "minimum": lambda x: x.pd.minimum([x.erlang(), x.erlang()]),
  "mixture": lambda x: x.pd.mixture(
    x.array([0.25, 0.75]), [x.trials(), x.trials()]
  ),
  "negative_binomial": lambda x: x.pd.negative_binomial(
    x.array(1.5), x.array(0.75)
  ),
  "order_statistic": lambda x: x.pd.order_statistic(x.erlang(), 3, 2),
  "piecewise_constant": lambda x: x.pd.piecewise_constant(
    x.machine(), lambda t: x.array([0.5 + t]), [0.5, 1.0]
  ),
  "piecewise_constant_limit": lambda x: x.pd.piecewise_constant_limit(
    x.machine(),
    lambda t: x.array([0.5 + t]),
    1.0,
    lambda dist: dist.mean(),
    1e-3,
  )[:2],
  "poisson": lambda x: x.pd.poisson(x.array(0.5)),
  "random_sum": lambda x: x.pd.random_sum(x.trials(), x.erlang()),
}

# Class methods that make distributions.
MAKERS: dict[str, Callable[[Substrate], Any]] = {
  "AcyclicPhaseType.from_phase_type": lambda x: (
    x.pd.AcyclicPhaseType.from_phase_type(
      x.pd.PhaseType(x.array([0.5, 0.5]), x.array([[-3.0, 1.0], [0.0, -2.0]]))
    )
  ),
  "Coxian.from_probs": lambda x: x.pd.Coxian.from_probs(
    x.array([2.0, 1.0]), x.array([0.5])
  ),
  "DiscretePhaseType.from_graph": lambda x: x.pd.DiscretePhaseType.from_graph(
    x.coin(), {"q": x.array(0.25)}
  ),
  "MultivariatePhaseType.from_graph": lambda x: (
    x.pd.MultivariatePhaseType.from_graph(
      x.machine(), {"wear": x.array(0.5)}, x.array([[1.0], [2.0]])
    )
  ),
  "PhaseType.from_graph": lambda x: x.pd.PhaseType.from_graph(
    x.machine(), {"wear": x.array(0.5)}
  ),
}

VALUE, OTHER = "a value", "another distribution"

# Arguments of methods, as host values, beside those of `_plain_arguments`.
_OTHER_ARGUMENTS: Mapping[str, tuple[Any, ...]] = {
  "cause_hazard": (VALUE, None),
  "cause_log_prob": (VALUE, None),
  "cause_prob": (VALUE, None),
  "cross_entropy": (OTHER,),
  "cumulative_incidence": (VALUE, None),
  "diagnose": (VALUE,),
  "discounted_totals": (onp.asarray([0.5, 2.0]),),
  "expected_totals": (onp.asarray([0.5, 2.0]),),
  "joint_mark_probs": ((1, 1), onp.asarray([0.5, 0.25])),
  "kl_divergence": (OTHER,),
  "laplace_transform": (math_cases.LEVELS / 8,),
  "marginal": (1,),
  "mixed_moment": ((1, 1),),
  "moment": (2,),
  "moment_generating_function": (math_cases.LEVELS / 8,),
  "probability_generating_function": (math_cases.LEVELS,),
  "projection": (onp.asarray([1.0, 2.0]),),
  "quantile": (math_cases.LEVELS,),
  "quantile_log_cdf": (onp.log(math_cases.LEVELS),),
  "quantile_log_survival": (onp.log1p(-math_cases.LEVELS),),
}
# Methods that the kernel computes, for models without conversion.
EXACT = (
  "cdf",
  "log_cdf",
  "log_prob",
  "log_survival_function",
  "prob",
  "survival_function",
)
# Methods with separate tests.
SAMPLERS = ("sample", "sample_and_log_prob", "sample_paths")
OTHER_METHODS = (
  "experimental_default_event_space_bijector",
  "from_json",
  "parameter_properties",
  "to_json",
)


def is_discrete(distribution: Any) -> bool:
  return distribution.support.constraint == "nonnegative_integer"


def value_of(distribution: Any) -> onp.ndarray:
  """Returns arguments for functions of a value of a distribution."""
  if distribution.event_shape:
    return onp.asarray([[0.5, 0.25], [1.0, 2.0]])
  return math_cases.COUNTS if is_discrete(distribution) else math_cases.TIMES


def public_methods(cls: type) -> dict[str, Any]:
  """Returns the functions of a class by name, including inherited ones.

  In TensorFlow distributions inherit from `tf.Module`, too.
  """
  return {
    name: inspect.unwrap(getattr(member, "__func__", member))
    for name in dir(cls)
    if not name.startswith("_")
    and callable(getattr(cls, name))
    and (member := inspect.getattr_static(cls, name)) is not None
    and getattr(member, "__module__", "phasic").startswith("phasic")
  }


def _plain_arguments() -> dict[str, tuple[Any, ...]]:
  """Returns the arguments of methods that need none, or a value."""
  plain: dict[str, tuple[Any, ...]] = {}
  for family in FAMILIES:
    cls = getattr(comparisons.in_numpy.distributions, family)
    for name, function in public_methods(cls).items():
      _, *others = inspect.signature(function).parameters.values()
      needed = [
        x.name
        for x in others
        if x.default is x.empty and x.kind is x.POSITIONAL_OR_KEYWORD
      ]
      if name not in (*SAMPLERS, *OTHER_METHODS) and needed in ([], ["value"]):
        plain[name] = (VALUE,) * len(needed)
  return plain


METHODS = {**_plain_arguments(), **_OTHER_ARGUMENTS}


def first_methods() -> list[tuple[str, str]]:
  """Returns each method with the first class of `FAMILIES` that defines it."""
  found, seen = [], set()
  for family in FAMILIES:
    cls = getattr(comparisons.in_numpy.distributions, family)
    for name, function in public_methods(cls).items():
      if name in METHODS and (name, function) not in seen:
        seen.add((name, function))
        found.append((family, name))
  return found
