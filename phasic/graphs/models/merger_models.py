"""Graphs of coalescents with multiple mergers, and their rates, see `models`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
import itertools
import math

import numpy as np
import numpy as onp

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.models import coalescent_models
from phasic.graphs.models import model_checks
from phasic.graphs.parts.contents import ABSORBED
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike, Integer
from phasic.math.model import value_rules


def lambda_coalescent(
  num_samples: Integer, max_states: Integer = model_checks.MAX_STATES
) -> graph_lib.Graph:
  """Returns the Lambda coalescent; states are numbers of lineages.

  Each set of k among b lineages merges into one at the rate lambda_{b,k}, for
  k = 2, ..., b, until the most recent common ancestor is found. `beta_rates`
  and `psi_rates` compute these rates from the parameter of a model, as the
  `edge_values` of a distribution of this graph.

  With the parameter `coalescence` instead, the rate of a pair that is alone, it
  is the Bolthausen-Sznitman coalescent:

      lambda_{b,k} = coalescence (k - 2)! (b - k)! / (b - 1)!.

  Args:
    num_samples: n, the number of lineages at the start, at least 2. There are
      n - 1 states and n (n - 1) / 2 edges.
    max_states: how many states there may be, and 100 times as many edges, or
      10 million if that is more: the default allows n = 4472.

  Raises:
    TypeError, ValueError: num_samples is not an integer of at least 2, or there
      are too many states or edges.

  References:
    J. Pitman, Coalescents with multiple collisions, Ann. Probab. 27, 1999.
    E. Bolthausen, A.-S. Sznitman, On Ruelle's probability cascades and an
      abstract cavity method, Comm. Math. Phys. 197, 1998.

  Example: the age of the common ancestor of four lineages.

    >>> from phasic import graphs
    >>> from phasic.distributions import PhaseType
    >>> graph = graphs.models.lambda_coalescent(4)
    >>> graph.states
    (4, 3, 2)
    >>> rates = graphs.models.beta_rates(graph, 1.5)
    >>> age = PhaseType.from_graph(graph, edge_values=rates)
    >>> print(f"{float(age.mean()):.6f}")
    1.457143
  """
  model_checks.at_least("num_samples", num_samples, 2)
  n = int(num_samples)
  model_checks.check_num_states(n, n - 1, n * (n - 1) // 2, max_states)

  lineages = onp.arange(n, 1, -1)
  sources = onp.repeat(onp.arange(n - 1), lineages - 1)
  before = lineages[sources]
  # The first edge of each state is the merger of two lineages, the next edge
  # the merger of three, and so on.
  first = onp.cumsum(lineages - 1) - (lineages - 1)
  merging = onp.arange(len(sources)) - first[sources] + 2
  # A weight sums the rates of all sets of k lineages. It is (b choose k)
  # (k - 2)! (b - k)! / (b - 1)! = b / (k (k - 1)).
  weights = before / (merging * (merging - 1))
  built = coalescent_models.merger_graph(
    sources, sources + merging - 1, weights, tuple(lineages.tolist())
  )
  return graph_lib.Graph._from_built(built)


def lambda_block_counting(
  num_samples: Integer, max_states: Integer = 2000
) -> graph_lib.Graph:
  """Returns the Lambda coalescent that counts lineages by their descendants.

  A state is the tuple (a_1, ..., a_n): a_i lineages have i descendants in the
  sample. Rates and the parameter are those of `lambda_coalescent`, and rewards
  those of `block_counting`: with a_i the time is the total length of the
  branches that i of the sample descend from.

  Args:
    num_samples: n, at least 2. There is a state for each partition of n but
      one, and an edge for each way in which some of its lineages can merge: 41
      states and 342 edges of 10, 626 and 22128 of 20, 5603 and 560499 of 30.
    max_states: how many states there may be, and 100 times as many edges, or
      10 million if that is more; the default allows n = 25.

  Raises:
    TypeError, ValueError: num_samples is not an integer of at least 2, or there
      are too many states or edges.

  References:
    M. Birkner, J. Blath, B. Eldon, Statistical properties of the site-frequency
      spectrum associated with Lambda-coalescents, Genetics 195, 2013.
    A. Hobolth, A. Siri-Jegousse, M. Bladt, Phase-type distributions in
      population genetics, Theor. Popul. Biol. 127, 2019.

  Example: the expected site frequency spectrum of four, if mutations come to a
  lineage at rate 1 / 2.

    >>> from phasic import graphs
    >>> from phasic.distributions import MultivariatePhaseType
    >>> graph = graphs.models.lambda_block_counting(4)
    >>> rates = graphs.models.psi_rates(graph, 0.25)
    >>> lengths = MultivariatePhaseType.from_graph(
    ...   graph, edge_values=rates, rewards=[s[:3] for s in graph.states]
    ... )
    >>> [f"{float(x) / 2:.4f}" for x in lengths.mean()]
    ['1.1313', '0.4030', '0.3313']
  """
  model_checks.at_least("num_samples", num_samples, 2)
  model_checks.check_block_counts(num_samples, max_states, all_mergers=True)

  def transitions(
    counts: tuple[int, ...],
  ) -> Iterator[tuple[Hashable, Mapping[str, float]]]:
    b = sum(counts)
    sizes = [i for i, count in enumerate(counts) if count > 0]
    ranges = [range(counts[i] + 1) for i in sizes]
    for taken in itertools.product(*ranges):
      k = sum(taken)
      if k < 2:
        continue
      merged = list(counts)
      ways, descendants = 1, 0
      for i, number in zip(sizes, taken):
        ways *= math.comb(counts[i], number)
        merged[i] -= number
        # Entry i counts the lineages with i + 1 descendants.
        descendants += (i + 1) * number
      merged[descendants - 1] += 1
      target = ABSORBED if k == b else tuple(merged)
      # The Bolthausen-Sznitman rate of a set of k among b lineages is computed
      # as a quotient of Python integers. These do not overflow, and the
      # quotient is rounded only once.
      weight = ways / ((b - 1) * math.comb(b - 2, k - 2))
      yield target, {"coalescence": weight}

  initial = (int(num_samples),) + (0,) * (int(num_samples) - 1)
  return graph_lib.Graph.from_transitions(
    transitions, initial, ("coalescence",), max_states=max_states
  )


_KINDS = "lambda_coalescent or lambda_block_counting"


def beta_rates(graph: graph_lib.Graph, alpha: ArrayLike) -> Array:
  """Computes the rates of the Beta(2 - alpha, alpha) coalescent.

  Each set of k among b lineages merges at the rate

      lambda_{b,k} = B(k - alpha, b - k + alpha) / B(2 - alpha, alpha),

  so that a pair that is alone merges at rate 1. With alpha in (1, 2) it is the
  limit of populations in which the number of offspring of one parent has tails
  of order alpha. The limit alpha = 2 is Kingman's coalescent, and alpha = 1 is
  the Bolthausen-Sznitman coalescent. For a pair that merges at rate 1 / N
  divide the result by N.

  All factors are positive and none is a difference of others, so the rates and
  their derivatives in alpha keep their digits.

  Args:
    graph: one of `lambda_coalescent` or `lambda_block_counting`.
    alpha: (...), in (0, 2].

  Returns:
    The `edge_values` of a distribution of the graph, (..., m), with the dtype
    of alpha.

  Raises:
    TypeError: alpha is not numeric.
    ValueError: alpha is not in (0, 2], the graph is not one of these, or it has
      lost its states. Where alpha is traced, rates are NaN in JAX, and
      TensorFlow raises when the function runs.

  References:
    J. Schweinsberg, Coalescent processes obtained from supercritical
      Galton-Watson processes, Stoch. Process. Appl. 106, 2003.
    M. Birkner, J. Blath, B. Eldon, Statistical properties of the site-frequency
      spectrum associated with Lambda-coalescents, Genetics 195, 2013.

  Example:

    >>> from phasic import graphs
    >>> graph = graphs.models.lambda_coalescent(3)
    >>> [float(x) for x in graphs.models.beta_rates(graph, 1.5)]
    [2.25, 0.25, 1.0]
  """
  lineages, mergers, weights = _edges(graph)
  alpha = structures.as_array(alpha, None, "alpha")
  good = (alpha > 0.0) & (alpha <= 2.0)
  alpha = value_rules.check("alpha", alpha, good, "it must be in (0, 2]")
  largest = int(onp.max(lineages)) - 2
  # With rising factorials (x)_n, the rate is the rate for alpha = 1 times
  # (2 - alpha)_{k-2} / (k - 2)! and times (alpha)_{b-k} / (b - k)!.
  merging = _rising(2.0 - alpha, largest)
  staying = _rising(alpha, largest)
  values = np.take(merging, mergers - 2, axis=-1)
  values = values * np.take(staying, lineages - mergers, axis=-1)
  return values * structures.as_array(weights, static.dtype_name(alpha))


def psi_rates(graph: graph_lib.Graph, psi: ArrayLike) -> Array:
  """Computes the rates of the psi coalescent of Eldon and Wakeley.

  At some times one parent has a fraction psi of all offspring: each lineage
  takes part with probability psi, and those that do merge. Each set of k among
  b lineages merges at the rate

      lambda_{b,k} = psi^(k - 2) (1 - psi)^(b - k),

  so that a pair that is alone merges at rate 1: the measure Lambda is one point
  of mass 1 at psi. Where such events come at rate 1, time runs 1 / psi^2 times
  as fast: multiply the result by psi^2. The limits are Kingman's coalescent at
  psi = 0, and one merger of all at psi = 1.

  Args:
    graph: one of `lambda_coalescent` or `lambda_block_counting`.
    psi: (...), in [0, 1].

  Returns:
    The `edge_values` of a distribution of the graph, (..., m), with the dtype
    of psi.

  Raises:
    TypeError: psi is not numeric.
    ValueError: psi is not in [0, 1], the graph is not one of these, or it has
      lost its states. Where psi is traced, rates are NaN in JAX, and TensorFlow
      raises when the function runs.

  References:
    B. Eldon, J. Wakeley, Coalescent processes when the distribution of
      offspring number among individuals is highly skewed, Genetics 172, 2006.

  Example:

    >>> from phasic import graphs
    >>> graph = graphs.models.lambda_coalescent(3)
    >>> [float(x) for x in graphs.models.psi_rates(graph, 0.5)]
    [1.5, 0.5, 1.0]
  """
  lineages, mergers, weights = _edges(graph)
  psi = structures.as_array(psi, None, "psi")
  good = (psi >= 0.0) & (psi <= 1.0)
  psi = value_rules.check("psi", psi, good, "it must be in [0, 1]")
  # Row r has the binomial probabilities of 0, ..., r successes. Unlike binomial
  # coefficients they do not overflow. All rows have the same width, so that
  # they compile only once.
  width = int(onp.max(lineages)) - 1
  hit, miss = psi[..., None], 1.0 - psi[..., None]
  dtype = static.dtype_name(psi)
  row = 0.0 * hit + structures.as_array(onp.eye(1, width)[0], dtype)
  rows = [row]
  for _ in range(width - 1):
    shifted = np.concatenate([0.0 * hit, row[..., :-1]], axis=-1)
    row = row * miss + shifted * hit
    rows.append(row)
  places = (lineages - 2) * width + mergers - 2
  values = np.take(np.concatenate(rows, axis=-1), places, axis=-1)
  weights = weights * (lineages - 1)
  return values * structures.as_array(weights, dtype)


def _rising(x: Array, largest: int) -> Array:
  """Computes x (x + 1) ... (x + j - 1) / j! for j = 0, ..., largest."""
  terms = [x * 0.0 + 1.0]
  for j in range(largest):
    terms.append(terms[-1] * ((x + j) / (j + 1)))
  return np.stack(terms, axis=-1)


def _edges(
  graph: graph_lib.Graph,
) -> tuple[onp.ndarray, onp.ndarray, onp.ndarray]:
  """Returns lineages b, mergers k and weights of a Lambda coalescent's edges.

  Raises:
    TypeError: it is not a graph.
    ValueError: the graph has no states, or is of another kind.
  """
  if not isinstance(graph, graph_lib.Graph):
    raise TypeError(
      f"graph is {type(graph).__name__}: it must be a Graph, one of {_KINDS}"
    )
  sizes = [sum(s) if isinstance(s, tuple) else s for s in graph.states]
  # Absorption leaves one lineage.
  lineages = onp.asarray([*sizes, 1])
  table = static.concrete(graph.coefficients)
  if table is None or table.shape[-1] != 1 or lineages.dtype.kind != "i":
    raise ValueError(_other(graph))
  sources, targets = (onp.asarray(x) for x in (graph.sources, graph.targets))
  before, after = lineages[sources], lineages[targets]
  # In the Bolthausen-Sznitman coalescent, b lineages have mergers at the total
  # rate b - 1. No other ready model has these totals, so they identify it.
  totals = onp.bincount(sources, table[:, 0], len(sizes))
  if not onp.allclose(totals, lineages[:-1] - 1):
    raise ValueError(_other(graph))
  return before, before - after + 1, table[:, 0]


def _other(graph: graph_lib.Graph) -> str:
  return f"graph is {graph!r}: it must be one of {_KINDS}"
