"""A Pearson-type test of how well multi-state models fit panel data."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic import inference
from phasic.internal import frameworks
from phasic.internal import raw_arguments
from phasic.internal import user_warnings
from phasic.multistate.answers import rate_tables
from phasic.multistate.answers import transition_groups
from phasic.multistate.data import panel_columns
from phasic.multistate.data import panel_data
from phasic.multistate.likelihood import models
from phasic.multistate.likelihood import rows as rows_lib
from phasic.multistate.states import chains

# Transition probabilities that are computed at once.
_MOST_NUMBERS = 4_000_000
# The chi-squared distributions are rough where more than this share of the
# expected numbers is below `_FEW`.
_MOST_SMALL, _FEW = 0.2, 5


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class PearsonTest:
  """Observed and expected transitions, and a test whether they agree.

  Attributes:
    statistic: sum (observed - expected)^2 / expected, as its mean where
      transitions count in parts.
    degrees_of_freedom: the least and the most.
    p_value: with the least degrees of freedom, and with the most; the p-value
      lies between them.
    states: the names of the s states.
    groups: what the g groups of transitions have in common.
    observed: numbers of transitions from state i to state j, (g, s, s).
    expected: likewise, (g, s, s).
    num_left_out: transitions that do not count, as their start is not known.

  Example: a table of two groups.

    >>> import numpy as np
    >>> from phasic import multistate
    >>> test = multistate.PearsonTest(
    ...   statistic=0.9,
    ...   degrees_of_freedom=(1, 2),
    ...   p_value=(0.34, 0.64),
    ...   states=("well", "ill"),
    ...   groups=("time below 2", "time from 2"),
    ...   observed=np.asarray([[[8.0, 2.0], [0.0, 0.0]], [[5.0, 5.0], [0.0, 0.0]]]),
    ...   expected=np.asarray([[[7.0, 3.0], [0.0, 0.0]], [[6.0, 4.0], [0.0, 0.0]]]),
    ...   num_left_out=0,
    ... )
    >>> print(test)
    Pearson-type test: statistic 0.9, degrees of freedom 1 to 2, p-value 0.34 to 0.64
    observed (expected)    to well     to ill
    time below 2, well   8.0 (7.0)  2.0 (3.0)
    time from 2, well    5.0 (6.0)  5.0 (4.0)
  """

  statistic: float
  degrees_of_freedom: tuple[int, int]
  p_value: tuple[float, float]
  states: tuple[str, ...]
  groups: tuple[str, ...]
  observed: onp.ndarray
  expected: onp.ndarray
  num_left_out: int

  def _head(self) -> str:
    low, high = self.degrees_of_freedom
    least, most = self.p_value
    return (
      f"statistic {self.statistic:.4g}, degrees of freedom {low} to {high}, "
      f"p-value {least:.3g} to {most:.3g}"
    )

  def __repr__(self) -> str:
    return f"<PearsonTest {self._head()}>"

  def __str__(self) -> str:
    heads = ["observed (expected)", *(f"to {x}" for x in self.states)]
    lines = [
      [
        f"{group}, {state}",
        *(
          f"{float(x):.1f} ({float(y):.1f})" if y > 0 else "-"
          for x, y in zip(self.observed[g, i], self.expected[g, i], strict=True)
        ),
      ]
      for g, group in enumerate(self.groups)
      for i, state in enumerate(self.states)
      if onp.any(self.expected[g, i] > 0)
    ]
    table = panel_columns.table_text(heads, lines)
    return f"Pearson-type test: {self._head()}\n{table}"

  def _repr_html_(self) -> str:
    return f"<pre>{self}</pre>"


def pearson(
  fit: inference.ModelFit,
  *,
  num_time_groups: int = 3,
  num_interval_groups: int = 3,
  num_covariate_groups: int = 3,
) -> PearsonTest:
  """Tests whether a model fits, by the numbers of its transitions.

  Transitions from one row to the next are counted by both states, in groups of
  about equal sizes: by the time at their end; among these by the length of the
  interval; and by covariates, through the sum of all rates at its start. Where
  there are few lengths or sums, each is a group. The expected number is the sum
  of the fitted transition probabilities.

  The statistic has no chi-square distribution, since probabilities differ within
  groups and have been fitted. It lies between those with as many degrees of
  freedom as the cells allow, and with as many less as there are fitted
  parameters. So does its p-value. Use fewer groups if many expected numbers are
  below 5.

  An interval that ends with a death at a known time was to end at a later visit,
  where the subject would have been seen dead. The lengths that it might have had
  have the probabilities of the product-limit estimate of all lengths, in which
  deaths are censored, given that they exceed the known time. The transition
  counts in parts, with these probabilities. If no interval was that long, the
  death counts as if seen when it occurred. A transition to a set of states counts
  in parts, too, with the fitted probabilities of these states; one whose first
  state is not known does not count.

  If lengths and states were drawn with these probabilities, the statistic would
  be random. Its mean is computed: to each squared difference the variance of
  this drawing is added, which is the sum of those of the transitions.

  Args:
    fit: of a `MultiState` whose states are seen, and are one phase each.
    num_time_groups: at most.
    num_interval_groups: at most, of each group of times.
    num_covariate_groups: at most.

  Raises:
    TypeError: an argument has a wrong type.
    ValueError: a number of groups is less than one; states are hidden or have
      several phases; times of entry are known of states that are left, or of all
      states, so that there are no intervals; or no transition counts.

  Example: three of four subjects fell ill in a year, as often as expected.

    >>> from phasic import inference, multistate
    >>> data = multistate.PanelData.from_table(
    ...   {
    ...     "id": [1, 1, 2, 2, 3, 3, 4, 4],
    ...     "year": [0.0, 1.0] * 4,
    ...     "state": ["well", "ill", "well", "ill", "well", "ill", "well", "well"],
    ...   },
    ...   subject="id",
    ...   time="year",
    ...   state="state",
    ... )
    >>> fit = inference.fit_mle(multistate.MultiState({"well": ["ill"]}), data)
    >>> test = multistate.pearson(fit)
    >>> print(test.observed[0, 0], test.degrees_of_freedom)
    [1. 3.] (0, 1)

  References:
    R. Aguirre-Hernandez, V. T. Farewell, A Pearson-type goodness-of-fit test for
      stationary and time-continuous Markov regression models, Stat. Med. 21,
      2002.
    A. C. Titman, L. D. Sharples, A general goodness-of-fit test for Markov and
      hidden Markov models, Stat. Med. 27, 2008.
    B. Efron, The two sample problem with censored data, Proc. 5th Berkeley Symp.
      4, 1967.
  """
  model = rate_tables.model_of(fit)
  sizes = {
    "num_time_groups": num_time_groups,
    "num_interval_groups": num_interval_groups,
    "num_covariate_groups": num_covariate_groups,
  }
  for name, size in sizes.items():
    _check_size(name, size)
  spec = models.spec_of(model)
  data = models.bound_of(model).data
  _check_visible(spec.chain, spec.hidden.has_errors or spec.hidden.outcomes)
  ends, num_left_out = transition_groups.counted_rows(spec.chain, data)
  parts = transition_groups.parts_of(data, ends)
  rates = _Rates(model, fit.parameters, data, ends)
  which, groups = transition_groups.groups_of(
    parts, rates.total(), list(sizes.values())
  )
  counted = _tables(spec.chain, data, ends, parts, rates, which, len(groups))
  return _tested(fit, spec.chain.states, groups, counted, num_left_out)


def _check_size(name: str, size: object) -> None:
  if isinstance(size, bool) or not isinstance(size, (int, onp.integer)):
    raise TypeError(
      f"{name} is {raw_arguments.shown(size)}: it must be a whole number"
    )
  if size < 1:
    raise ValueError(
      f"{name} is {size}: it must be at least 1, which makes no groups"
    )


def _check_visible(chain: chains.Chain, is_hidden: object) -> None:
  """Raises ValueError unless states are seen, and are single phases."""
  if is_hidden:
    raise ValueError(
      "fit has hidden states: the test needs states that are seen; compare the "
      "model with a larger one by inference.likelihood_ratio"
    )
  if chain.num_phases > len(chain.states):
    raise ValueError(
      "fit has states of several phases, which are not seen: the test needs "
      "states of one phase; compare the model with a larger one by "
      "inference.likelihood_ratio"
    )


class _Rates:
  """The fitted rates and transition probabilities of transitions."""

  def __init__(
    self,
    model: models.MultiState,
    parameters: models.Parameters,
    data: panel_data.PanelData,
    ends: onp.ndarray,
  ):
    """Reads the covariates with which transitions begin."""
    self.starts = data.times[ends - 1]
    table = {name: x[ends - 1] for name, x in data.covariates.items()}
    self._table = rate_tables.RateTable(
      models.spec_of(model),
      models.bound_of(model),
      table or None,
      len(ends),
      False,
    )
    cuts = self._table.bound.effects.cuts
    self._ends = [-math.inf, *cuts, math.inf]
    times = [self._ends[1] - 1.0, *cuts] if cuts else [0.0]
    # Without effects there is one row.
    shape = (len(ends), len(self._table.chain.sources))
    self._rates = [
      onp.broadcast_to(
        onp.asarray(self._table.edge_rates(parameters, time)), shape
      )
      for time in times
    ]

  def total(self) -> onp.ndarray:
    """Returns the sum of all rates at the start of each transition, (n,)."""
    period = onp.searchsorted(self._ends[1:-1], self.starts, side="right")
    totals = onp.stack([onp.sum(x, axis=-1) for x in self._rates])
    return totals[period, onp.arange(len(self.starts))]

  def probs(self, transition: onp.ndarray, lengths: onp.ndarray) -> onp.ndarray:
    """Computes transition probabilities of intervals, (k, p, p)."""
    product = None
    begin = self.starts[transition]
    end = begin + lengths
    for i, rates in enumerate(self._rates):
      low, high = self._ends[i], self._ends[i + 1]
      inside = onp.clip(
        onp.minimum(end, high) - onp.maximum(begin, low), 0.0, None
      )
      # Without cuts, the length itself, which has not been rounded.
      spent = lengths if len(self._rates) == 1 else inside
      chosen = np.asarray(rates[transition])
      probs = onp.asarray(
        rate_tables.phase_probs(self._table.chain, chosen, spent[:, None])
      )[:, 0]
      product = probs if product is None else onp.matmul(product, probs)
    assert product is not None
    return product


class _Tables(NamedTuple):
  """Transitions between s states in g groups, (g, s, s) each.

  Attributes:
    observed: their numbers; means, where there are parts.
    expected: expected ones.
    variance: of the differences, where there are parts.
  """

  observed: onp.ndarray
  expected: onp.ndarray
  variance: onp.ndarray


def _tables(
  chain: chains.Chain,
  data: panel_data.PanelData,
  ends: onp.ndarray,
  parts: transition_groups.Parts,
  rates: _Rates,
  which: onp.ndarray,
  num_groups: int,
) -> _Tables:
  """Counts observed and expected transitions."""
  states = onp.asarray(chain.states)
  before = onp.argmax(data.states[ends - 1][:, None] == states, axis=-1)
  labels, label = onp.unique(data.states[ends], return_inverse=True)
  masks = onp.stack(
    [onp.isin(states, rows_lib.possible(chain, data, x)) for x in labels]
  )
  size = len(states)
  observed = onp.zeros((num_groups, size, size))
  expected, variance = onp.zeros_like(observed), onp.zeros_like(observed)
  step = max(1, _MOST_NUMBERS // (size**2 * transition_groups.MOST_LENGTHS))
  for first in range(0, len(ends), step):
    at = onp.searchsorted(parts.transition, [first, first + step])
    part = slice(int(at[0]), int(at[1]))
    of = parts.transition[part]
    group, source = which[part], before[of]
    weight = parts.weight[part][:, None]
    probs = rates.probs(of, parts.length[part])[onp.arange(len(of)), source]
    inside = probs * masks[onp.reshape(label, -1)[of]]
    sums = onp.sum(inside, axis=-1, keepdims=True)
    seen = inside / onp.where(sums > 0, sums, 1.0)
    onp.add.at(observed, (group, source), weight * seen)
    onp.add.at(expected, (group, source), weight * probs)
    # The parts of a transition exclude each other.
    squares = seen * (1.0 - probs) ** 2 + (1.0 - seen) * probs**2
    onp.add.at(variance, (group, source), weight * squares)
    keys, place = onp.unique(of * num_groups + group, return_inverse=True)
    means = onp.zeros((len(keys), size))
    onp.add.at(means, onp.reshape(place, -1), weight * (seen - probs))
    owner = before[keys // num_groups]
    onp.add.at(variance, (keys % num_groups, owner), -(means**2))
  return _Tables(observed, expected, onp.maximum(variance, 0.0))


def _tested(
  fit: inference.ModelFit,
  states: tuple[str, ...],
  groups: tuple[str, ...],
  counted: _Tables,
  num_left_out: int,
) -> PearsonTest:
  """Returns the test, without groups that have no transitions."""
  with frameworks.needed_by("a test of fit"):
    from scipy import special

  observed, expected, variance = counted
  cells = expected > 0
  squares = onp.where(cells, (observed - expected) ** 2 + variance, 0.0)
  statistic = float(onp.sum(squares / onp.where(cells, expected, 1.0)))
  sources = onp.any(cells, axis=-1)
  most = int(onp.sum(cells)) - int(onp.sum(sources))
  least = max(most - fit.num_parameters, 0)
  tails = [
    float(special.gammaincc(x / 2.0, statistic / 2.0)) if x else 0.0
    for x in (least, most)
  ]
  small = int(onp.sum(expected[cells] < _FEW))
  if small > _MOST_SMALL * onp.sum(cells):
    user_warnings.warn(
      f"{small} of {int(onp.sum(cells))} expected numbers are below {_FEW}: the "
      "p-values are rough; take fewer groups"
    )
  kept = onp.any(sources, axis=-1)
  return PearsonTest(
    statistic=statistic,
    degrees_of_freedom=(least, most),
    p_value=(tails[0], tails[1]),
    states=states,
    groups=tuple(x for x, keep in zip(groups, kept, strict=True) if keep),
    observed=observed[kept],
    expected=expected[kept],
    num_left_out=num_left_out,
  )
