"""The M-step: the likeliest parameters, if the paths were as is expected.

Phases, edges or components that share a parameter share their statistics: a
rate is a sum of numbers of jumps over a sum of times in which they could come.
What no path had a chance to do keeps its value, and what is zero stays zero.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy as onp

from phasic.distributions.absorption import atoms
from phasic.distributions.absorption import discrete_phase_type
from phasic.distributions.absorption import graph_chain
from phasic.distributions.absorption import phase_type
from phasic.distributions.families import acyclic_phase_type
from phasic.distributions.families import coxian
from phasic.distributions.families import erlang
from phasic.distributions.families import geometric_mixture
from phasic.distributions.families import hyper_erlang
from phasic.distributions.families import hyperexponential
from phasic.distributions.families import hypoexponential
from phasic.distributions.families import negative_binomial
from phasic.distributions.families import sparse_phase_type
from phasic.distributions.wrapped import transformed_phase_type
from phasic.distributions.wrapped import truncated_phase_type
from phasic.distributions.wrapped import zero_inflated
from phasic.inference.em import ascending_rates
from phasic.inference.em import chain_paths
from phasic.inference.em import graph_maximization
from phasic.inference.em import ratios
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.math.model import chain as chain_lib


def maximized(distribution: Any, paths: chain_paths.ExpectedPaths) -> Any:
  """Returns the distribution of its family that the M-step makes.

  Args:
    distribution: that of the E-step.
    paths: what its E-step returned.

  Raises:
    TypeError: there is no M-step for its family.
  """
  with user_warnings.derived():
    return _rule(distribution)(distribution, paths)


def check_family(distribution: Any) -> None:
  """Raises TypeError where there is no M-step for a distribution's family."""
  _rule(distribution)
  if isinstance(distribution, _WRAPPED):
    check_family(distribution.distribution)


def held(distribution: Any) -> tuple[str, ...]:
  """Returns the parameters that the M-step keeps, by their paths."""
  found: list[str] = []
  path = ""
  while isinstance(distribution, _WRAPPED):
    if isinstance(distribution, _WRAPPED[1:]):
      arrays = distribution._arrays()
      names = distribution.parameter_properties()
      found += [f"{path}{name}" for name in names if arrays[name] is not None]
    path += "distribution."
    distribution = distribution.distribution
  return tuple(found)


def needs_host(distribution: Any) -> bool:
  """Whether the M-step needs the values of what the E-step found."""
  while isinstance(distribution, _WRAPPED):
    distribution = distribution.distribution
  if not isinstance(distribution, graph_chain.GraphChain):
    return False
  return graph_maximization.needs_host(distribution)


def _rule(distribution: Any) -> Callable[..., Any]:
  if isinstance(distribution, _WRAPPED[1:]):
    return _of_chain
  rule = _RULES.get(type(distribution))
  if rule is None:
    known = ", ".join(sorted(family.__name__ for family in _RULES))
    raise TypeError(
      f"dist is {type(distribution).__name__}: EM has no M-step for it, "
      f"only for {known}; fit_mle fits whatever has a log likelihood"
    )
  return rule


def _of_chain(distribution: Any, paths: chain_paths.ExpectedPaths) -> Any:
  """Keeps the change of time, or the bounds, of a chain's law."""
  inner = maximized(distribution.distribution, paths)
  return distribution.copy(distribution=inner)


def _phase_type(distribution: Any, paths: chain_paths.ExpectedPaths) -> Any:
  arrays = distribution._arrays()
  matrix = arrays["subgenerator"]
  p, dtype = static.shape(matrix)[-1], static.dtype_name(matrix)
  old_exits = arrays["exit_rates"]
  if old_exits is None:
    none, atom = matrix[..., 0, :0], np.zeros_like(matrix[..., 0, :1])
    operands = (matrix[..., 0, :], matrix, none, atom)
    old_exits = chain_lib.derive(operands, static.finfo_eps(dtype)).exits
  eye = np.eye(p, dtype=dtype)
  between = np.where(eye > 0, 0.0, matrix)
  rates = ratios.ratio(paths.jumps, paths.visits[..., None], between)
  exits = ratios.ratio(paths.exits, paths.visits, old_exits)
  leaving = np.sum(rates, axis=-1) + exits
  given = arrays["exit_rates"] is not None
  return distribution.copy(
    **_start(arrays, paths),
    subgenerator=rates - eye * leaving[..., None],
    exit_rates=exits if given else None,
  )


def _discrete_phase_type(
  distribution: Any, paths: chain_paths.ExpectedPaths
) -> Any:
  arrays = distribution._arrays()
  matrix, exits = arrays["subtransition"], arrays["exit_probs"]
  eye = np.eye(static.shape(matrix)[-1], dtype=static.dtype_name(matrix))
  steps = paths.jumps + eye * paths.stays[..., None]
  return distribution.copy(
    **_start(arrays, paths),
    subtransition=ratios.ratio(steps, paths.visits[..., None], matrix),
    exit_probs=(
      None if exits is None else ratios.ratio(paths.exits, paths.visits, exits)
    ),
  )


def _start(
  arrays: dict[str, Any], paths: chain_paths.ExpectedPaths
) -> dict[str, Any]:
  """Returns masses of phases and, if it is given, the mass at zero."""
  total, atom = paths.total, arrays["prob_zero"]
  masses = ratios.ratio(paths.starts, total[..., None], arrays["initial_probs"])
  if atom is not None:
    atom = ratios.ratio(paths.atom, total, atom)
  return {"initial_probs": masses, "prob_zero": atom}


def _rates(distribution: Any, paths: chain_paths.ExpectedPaths) -> Any:
  """Returns what a family's edges are linear in, (..., d)."""
  return ratios.edge_parameters(distribution._model()[1], paths)


def _acyclic_phase_type(
  distribution: Any, paths: chain_paths.ExpectedPaths
) -> Any:
  arrays = distribution._arrays()
  start = _start(arrays, paths)
  masses, rates = ascending_rates.maximized(
    arrays["initial_probs"],
    start["initial_probs"],
    _rates(distribution, paths),
    paths,
  )
  return distribution.copy(**{**start, "initial_probs": masses, "rates": rates})


def _coxian(distribution: Any, paths: chain_paths.ExpectedPaths) -> Any:
  rates, p = _rates(distribution, paths), distribution.num_phases
  return distribution.copy(
    progression_rates=rates[..., : p - 1], exit_rates=rates[..., p - 1 :]
  )


def _hyper_erlang(distribution: Any, paths: chain_paths.ExpectedPaths) -> Any:
  counts = onp.asarray(distribution.concentrations)
  starts = np.take(paths.starts, onp.cumsum(counts) - counts, axis=-1)
  probs = distribution._arrays()["probs"]
  return distribution.copy(
    probs=ratios.ratio(starts, paths.total[..., None], probs),
    rates=_rates(distribution, paths),
  )


def _erlang(distribution: Any, paths: chain_paths.ExpectedPaths) -> Any:
  return distribution.copy(rate=_rates(distribution, paths)[..., 0])


def _hyperexponential(
  distribution: Any, paths: chain_paths.ExpectedPaths
) -> Any:
  probs = distribution._arrays()["probs"]
  return distribution.copy(
    probs=ratios.ratio(paths.starts, paths.total[..., None], probs),
    rates=_rates(distribution, paths),
  )


def _hypoexponential(
  distribution: Any, paths: chain_paths.ExpectedPaths
) -> Any:
  return distribution.copy(rates=_rates(distribution, paths))


def _sparse_phase_type(
  distribution: Any, paths: chain_paths.ExpectedPaths
) -> Any:
  start = _start(distribution._arrays(), paths)
  return distribution.copy(**start, rates=_rates(distribution, paths))


def _sparse_discrete(
  distribution: Any, paths: chain_paths.ExpectedPaths
) -> Any:
  start = _start(distribution._arrays(), paths)
  edges = distribution._model()[1]
  return distribution.copy(**start, probs=ratios.edge_probs(edges, paths))


def _negative_binomial(
  distribution: Any, paths: chain_paths.ExpectedPaths
) -> Any:
  old = distribution._arrays()["probs"]
  successes = np.sum(paths.jumps, axis=-1)
  trials = np.sum(paths.visits, axis=-1)
  return distribution.copy(probs=ratios.ratio(successes, trials, old))


def _geometric_mixture(
  distribution: Any, paths: chain_paths.ExpectedPaths
) -> Any:
  arrays = distribution._arrays()
  return distribution.copy(
    mixture_probs=ratios.ratio(
      paths.starts, paths.total[..., None], arrays["mixture_probs"]
    ),
    success_probs=ratios.ratio(
      paths.exits, paths.visits, arrays["success_probs"]
    ),
  )


def _graph(distribution: Any, paths: chain_paths.ExpectedPaths) -> Any:
  arrays = distribution._arrays()
  changed = {}
  if arrays["initial_probs"] is not None:
    changed["initial_probs"] = ratios.ratio(
      paths.starts, paths.total[..., None], arrays["initial_probs"]
    )
  if arrays["edge_values"] is not None:
    edges = distribution._model()[1]
    discrete = distribution._DISCRETE
    rule = ratios.edge_probs if discrete else ratios.edge_parameters
    changed["edge_values"] = rule(edges, paths)
  elif arrays["params"] is not None:
    params = graph_maximization.maximized_params(distribution, paths)
    changed["params"] = params
  return distribution.copy(**changed)


def _zero_inflated(distribution: Any, paths: chain_paths.ExpectedPaths) -> Any:
  """Zeros are shared out to the mixture and to the atom within it."""
  inner = distribution.distribution
  extra = distribution._arrays()["prob_zero"]
  own = (1.0 - extra) * atoms.mass_at_zero(inner)
  known = extra + own != 0
  share = extra / np.where(known, extra + own, 1.0)
  rest = own / np.where(known, extra + own, 1.0)
  return distribution.copy(
    distribution=maximized(inner, paths._replace(atom=paths.atom * rest)),
    prob_zero=ratios.ratio(paths.atom * share, paths.total, extra),
  )


# Of another distribution, and perhaps parameters of their own.
_WRAPPED: tuple[Any, ...] = (
  zero_inflated.ZeroInflated,
  transformed_phase_type.TransformedPhaseType,
  truncated_phase_type.TruncatedPhaseType,
)
_RULES: dict[Any, Callable[..., Any]] = {
  acyclic_phase_type.AcyclicPhaseType: _acyclic_phase_type,
  coxian.Coxian: _coxian,
  discrete_phase_type.DiscretePhaseType: _discrete_phase_type,
  erlang.Erlang: _erlang,
  geometric_mixture.GeometricMixture: _geometric_mixture,
  discrete_phase_type.GraphDiscretePhaseType: _graph,
  phase_type.GraphPhaseType: _graph,
  hyper_erlang.HyperErlang: _hyper_erlang,
  hyperexponential.Hyperexponential: _hyperexponential,
  hypoexponential.Hypoexponential: _hypoexponential,
  negative_binomial.NegativeBinomialFailures: _negative_binomial,
  negative_binomial.NegativeBinomialTrials: _negative_binomial,
  phase_type.PhaseType: _phase_type,
  sparse_phase_type.SparseDiscretePhaseType: _sparse_discrete,
  sparse_phase_type.SparsePhaseType: _sparse_phase_type,
  zero_inflated.ZeroInflated: _zero_inflated,
}
