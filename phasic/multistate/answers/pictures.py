"""Pictures of fitted multi-state models."""

from __future__ import annotations

import math
from typing import Any

import numpy as onp

from phasic import graphs
from phasic import inference
from phasic.internal import frameworks
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import ArrayLike
from phasic.internal.frameworks import Foreign
from phasic.internal.tables import TableLike
from phasic.multistate.answers import prevalences
from phasic.multistate.answers import rate_tables
from phasic.multistate.likelihood import models


def plot_prevalence(
  fit: inference.ModelFit,
  times: ArrayLike | None = None,
  axes: Foreign | None = None,
  *,
  confidence_level: float = 0.95,
) -> Foreign:
  """Draws percentages of subjects in each state, observed and expected.

  A state has one color: dots for what was observed, a line with a band for what
  the fit expects, see `prevalence`.

  Args:
    fit: of a `MultiState`, with the data.
    times: (t,); None for 21 times from the first to the last row of the data.
    axes: of matplotlib; None for new ones.
    confidence_level: of the bands, between zero and one.

  Returns:
    The axes.

  Raises:
    ImportError: matplotlib is missing.
    TypeError, ValueError: as for `prevalence`.

  Example: four patients, of whom two fell ill.

    >>> from phasic import inference, multistate
    >>> data = multistate.PanelData.from_table(
    ...   {
    ...     "id": [1, 1, 2, 2, 3, 3, 4, 4],
    ...     "year": [0.0, 1.0] * 4,
    ...     "state": ["well", "ill"] * 2 + ["well"] * 4,
    ...   },
    ...   subject="id",
    ...   time="year",
    ...   state="state",
    ... )
    >>> fit = inference.fit_mle(multistate.MultiState({"well": ["ill"]}), data)
    >>> axes = multistate.plot_prevalence(fit)
    >>> [x.get_text() for x in axes.get_legend().get_texts()]
    ['well', 'ill']
  """
  _check_axes(axes)
  bound = models.bound_of(rate_tables.model_of(fit))
  if times is None:
    seen = bound.data.times
    times = onp.linspace(float(onp.min(seen)), float(onp.max(seen)), 21)
  known = prevalences.prevalence(fit, times, confidence_level=confidence_level)
  order = onp.argsort(known.times, kind="stable")
  at = known.times[order]
  observed = known.observed_percent[order]
  expected = known.expected_percent
  target = _new_axes() if axes is None else axes
  for j, state in enumerate(known.states):
    (line,) = target.plot(at, expected.estimate[order, j], label=state)
    color = line.get_color()
    low, high = expected.low[order, j], expected.high[order, j]
    target.fill_between(at, low, high, alpha=0.2, linewidth=0.0, color=color)
    target.plot(at, observed[:, j], "o", color=color, markersize=4.0)
  target.set_xlabel("time")
  target.set_ylabel("percent of subjects, dots: observed")
  target.set_ylim(0.0, 100.0)
  target.legend()
  return target


def plot_transitions(
  fit: inference.ModelFit,
  covariates: TableLike | None = None,
  axes: Foreign | None = None,
  *,
  time: float = 0.0,
) -> Foreign:
  """Draws states and transitions with their fitted rates.

  States of several phases are drawn as these. Those in which subjects start are
  blue, absorbing ones gray, see `Graph.plot`.

  Args:
    fit: of a `MultiState`.
    covariates: of one subject, a mapping from columns to single values; None
      for a model without effects.
    axes: of matplotlib; None for new ones.
    time: where rates are taken, which matters if there are cuts.

  Returns:
    The axes.

  Raises:
    ImportError: matplotlib is missing, or Graphviz and networkx are.
    TypeError, ValueError: as for `pmatrix`, or there are several rows.

  Example: illness and death.

    >>> from phasic import inference, multistate
    >>> data = multistate.PanelData.from_table(
    ...   {
    ...     "id": [1, 1, 1, 2, 2, 3, 3],
    ...     "year": [0.0, 1.0, 2.0, 0.0, 1.0, 0.0, 1.5],
    ...     "state": ["well", "ill", "dead", "well", "dead", "well", "well"],
    ...   },
    ...   subject="id",
    ...   time="year",
    ...   state="state",
    ...   exact=["dead"],
    ... )
    >>> rates = {"well": ["ill", "dead"], "ill": ["dead"]}
    >>> fit = inference.fit_mle(multistate.MultiState(rates), data)
    >>> axes = multistate.plot_transitions(fit)
    >>> sorted(x.get_text() for x in axes.texts)[-3:]
    ['dead', 'ill', 'well']
  """
  _check_axes(axes)
  table = rate_tables.read(fit, covariates)
  if table.num_rows != 1:
    raise ValueError(
      f"covariates has {table.num_rows} rows: a picture is of one subject"
    )
  at = rate_tables.time_of("time", time, least=-math.inf)
  chain = table.chain
  rates = onp.asarray(static.concrete(table.edge_rates(fit.parameters, at)))[0]
  absorbing = table.is_absorbing[chain.state_of]

  def node(phase: int) -> Any:
    name = _Name(chain.phases[phase])
    return graphs.ABSORBED(name) if absorbing[phase] else name

  edges = [
    (node(int(a)), node(int(b)), float(rate))
    for a, b, rate in zip(chain.sources, chain.targets, rates, strict=True)
    if rate > 0.0
  ]
  graph = graphs.Graph.from_edges(
    edges, _start(table), allow_never_absorbing=True
  )
  return graph.plot(_new_axes() if axes is None else axes)


class _Name(str):
  """The name of a phase, which is drawn without quotes."""

  __slots__ = ()

  def __repr__(self) -> str:
    return str(self)


def _start(table: rate_tables.RateTable) -> dict[str, float]:
  """Returns the phases in which subjects start, with equal weights."""
  chain, spec, data = table.chain, table.spec, table.bound.data
  seen = set(map(str, data.states[data.is_first]))
  if spec.initial is not None:
    names = onp.asarray(chain.states)
    seen = set(map(str, names[onp.asarray(spec.initial) > 0.0]))
  phases = [
    name
    for name, state, entry in zip(
      chain.phases, chain.state_of, chain.entry, strict=True
    )
    if entry > 0.0
    and chain.states[state] in seen
    and chain.states[state] not in chain.absorbing
  ]
  # Where no first state is known, all of them may be.
  phases = phases or [
    name
    for name, state in zip(chain.phases, chain.state_of, strict=True)
    if chain.states[state] not in chain.absorbing
  ]
  return {_Name(name): 1.0 / len(phases) for name in phases}


def _check_axes(axes: object) -> None:
  """Raises unless `axes` is None or axes of matplotlib."""
  with frameworks.needed_by("a plot of a multi-state model"):
    import matplotlib.axes

  if axes is not None and not isinstance(axes, matplotlib.axes.Axes):
    raise TypeError(
      f"axes is {raw_arguments.shown(axes)}: it must be axes of matplotlib, or "
      "None for new ones"
    )


def _new_axes() -> Foreign:
  """Returns the axes of a new figure."""
  import matplotlib.pyplot

  _, axes = matplotlib.pyplot.subplots()
  return axes
