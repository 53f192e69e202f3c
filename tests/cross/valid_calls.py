"""Valid calls of distributions and of `ph.math` in NumPy, by argument names."""

from collections.abc import Callable, Iterator, Mapping
import functools
import inspect
from typing import Any, NamedTuple

import numpy as onp

from tests.cross import public_distributions_cases as cases
from tests.cross import public_math_cases

ARRAY = onp.asarray
X = cases.Substrate("numpy")
OPTIONS = {"validate_args": False, "allow_nan_stats": True, "name": "a"}


class Call(NamedTuple):
  """A valid call.

  Attributes:
    function: what is called.
    arguments: all arguments, by name.
    free: arguments that may be any object, such as states of a graph.
  """

  function: Callable[..., Any]
  arguments: Mapping[str, Any]
  free: tuple[str, ...] = ()

  def __str__(self) -> str:
    """Returns the name of the function."""
    return getattr(self.function, "__qualname__", repr(self.function))


def call(function: Callable[..., Any], /, *free: str, **arguments: Any) -> Call:
  return Call(function, arguments, free)


@functools.cache
def distribution(family: str) -> Any:
  return cases.FAMILIES[family](X)


def constructors() -> Iterator[Call]:
  """Yields a call of each class of distributions, and of their parts."""
  pd = X.pd
  for make in (cases.FAMILIES | cases.OF_EDGES).values():
    made = make(X)
    yield call(type(made), **made.parameters)
  params = [{"wear": 0.5}, {"wear": 1.5}]
  yield call(
    pd.Epochs,
    graphs=[X.machine(), X.machine()],
    params=params,
    boundaries=ARRAY([0.75]),
    state_maps=[lambda state: state],
  )
  yield call(
    pd.ParameterProperties,
    event_ndims=0,
    constraint="positive",
    optional=False,
    fitted=True,
    jumps=False,
  )
  yield call(pd.Support, constraint="nonnegative", event_ndims=0, low=None)


def methods() -> Iterator[Call]:
  """Yields a call of each method where it is defined, and of the samplers."""
  named = cases.first_methods()
  for family in ("Epochs", "MultivariateEpochs", "MultivariatePhaseType"):
    made = distribution(family)
    named += [
      (family, name)
      for name in sorted(cases.METHODS)
      if hasattr(made, name) and (family, name) not in named
    ]
  for family, name in named:
    if name != "copy":
      yield method(distribution(family), name)
  for family in ("PhaseType", "DiscretePhaseType", "MultivariateEpochs"):
    made = distribution(family)
    for name in cases.SAMPLERS:
      if hasattr(made, name):
        own = {"num_jumps": 3} if name == "sample_paths" else {}
        yield call(getattr(made, name), **own, sample_shape=(2,), seed=1)
  erlang = X.erlang()
  yield call(erlang.copy, rate=2.0, validate_args=False, concentration=3)
  two = X.pd.Erlang(2, ARRAY([1.0, 2.0]))
  yield call(two.__getitem__, index=0)


def method(made: Any, name: str) -> Call:
  """Returns the call of a method with the arguments of the table."""
  other = made
  if not made.event_shape:
    other = X.trials() if cases.is_discrete(made) else X.erlang()
  special = {cases.VALUE: cases.value_of(made), cases.OTHER: other}
  given = [special[x] if isinstance(x, str) else x for x in cases.METHODS[name]]
  return bound(getattr(made, name), *given)


def bound(function: Callable[..., Any], *given: Any, **named: Any) -> Call:
  found = inspect.signature(function).bind(*given, **named)
  found.apply_defaults()
  return call(function, **found.arguments)


def functions() -> Iterator[Call]:
  """Yields calls of the functions that make distributions."""
  pd, machine = X.pd, X.machine()
  two = [X.erlang(), X.erlang()]
  for name in ("convolution", "maximum", "minimum"):
    yield call(getattr(pd, name), distributions=two, **OPTIONS)
  yield call(
    pd.mixture, probs=ARRAY([0.25, 0.75]), distributions=two, **OPTIONS
  )
  yield call(pd.order_statistic, distribution=X.erlang(), n=3, k=2, **OPTIONS)
  yield call(
    pd.random_sum, count=X.trials(), distribution=X.erlang(), **OPTIONS
  )
  steps = {"graph": machine, "params": lambda t: ARRAY([0.5 + t])}
  yield call(pd.piecewise_constant, boundaries=[0.5, 1.0], **steps)
  yield call(
    pd.piecewise_constant_limit,
    **steps,
    until=1.0,
    quantity=lambda dist: dist.mean(),
    tolerance=1e-3,
  )
  yield call(pd.kl_divergence, p=X.erlang(), q=X.erlang())
  yield call(pd.register_kl, first=pd.Erlang, second=pd.Coxian)
  yield call(
    pd.AcyclicPhaseType.from_phase_type, distribution=X.erlang(), **OPTIONS
  )
  yield call(
    pd.Coxian.from_probs,
    rates=ARRAY([2.0, 1.0]),
    continuation_probs=ARRAY([0.5]),
    **OPTIONS,
  )
  others = {"edge_values": None, "initial_probs": None, **OPTIONS}
  yield call(
    pd.DiscretePhaseType.from_graph,
    graph=X.coin(),
    params=ARRAY([0.25]),
    **others,
  )
  yield call(pd.Distribution.from_json, text=X.erlang().to_json())
  params = {"wear": 0.5}
  yield call(pd.PhaseType.from_graph, graph=machine, params=params, **others)
  yield call(
    pd.MultivariatePhaseType.from_graph,
    graph=machine,
    params=params,
    rewards=ARRAY([[1.0], [2.0]]),
    **others,
  )


def mathematics() -> Iterator[Call]:
  """Yields a call of each function of `ph.math`."""
  for name, case in public_math_cases.CASES.items():
    package, function = name.split(".")
    yield bound(
      getattr(getattr(X.math, package), function),
      *case.arguments,
      **case.named,
      **case.options,
    )

  def square(x: Any) -> Any:
    return onp.sum(x * x)

  x = ARRAY([1.0, 2.0])
  for name in ("jvp", "hessian_vector_product"):
    yield call(getattr(X.math, name), f=square, primals=(x,), tangents=(x,))
