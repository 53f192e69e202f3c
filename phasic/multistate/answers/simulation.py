"""Simulation of subjects of multi-state models, who are seen at visits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import itertools
import math
from typing import Any, NamedTuple

import numpy as onp

from phasic import inference
from phasic.internal import random
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import tables
from phasic.internal.arrays import ArrayLike, SanitizedSeed, Seed
from phasic.internal.tables import TableLike
from phasic.multistate.answers import rate_tables
from phasic.multistate.data import effects as effects_lib
from phasic.multistate.data import panel_columns
from phasic.multistate.data import panel_data
from phasic.multistate.likelihood import initial_states
from phasic.multistate.likelihood import likelihoods
from phasic.multistate.likelihood import models
from phasic.multistate.likelihood import outcomes as outcomes_lib
from phasic.multistate.likelihood import reading
from phasic.multistate.states import chains


def simulate(
  fit: inference.ModelFit | models.MultiState,
  visits: TableLike,
  *,
  subject: str,
  time: str,
  seed: Seed,
  state: str = "state",
  start: str | int | Sequence[str | int] | None = None,
  exact: Sequence[str | int] | None = None,
  parameters: Mapping[str, ArrayLike | Mapping[str, float]] | None = None,
) -> dict[str, onp.ndarray]:
  """Simulates the states of subjects at their visits.

  Paths are exact: a chain jumps at exponential times, whose rates change with
  covariates, from visit to visit, and at cuts. Subjects are not seen after the
  first visit in an absorbing state, or after its time of entry if that is exact.
  Wrong labels and outcomes are drawn where the model has them; then states with
  an outcome are not seen, and the column "true_state" has the states.

  Args:
    fit: of a `MultiState`, or such a model.
    visits: a table with a row for each visit, with the covariates of effects.
    subject: the column of labels of subjects.
    time: the column of times.
    seed: of random numbers, as for `Distribution.sample`: an int, or a key of
      JAX.
    state: the name of the column of states in the result.
    start: the state at the first visit: one for all, or one for each subject in
      the order of their first rows; None draws it by initial probabilities.
    exact: absorbing states whose times of entry are known; None for those of
      the data of the fit.
    parameters: in the form of `fit.parameters`, in place of these; in each
      array numbers may be given by their names. A model without a fit needs
      them; those that are left out are its starting values.

  Returns:
    Columns by name, for `PanelData.from_table`: those of `visits`, the states
    and outcomes. Rows of times of entry have the covariates of the visit before.

  Raises:
    TypeError: an argument has a wrong type.
    ValueError: a name or a value breaks a rule.

  Example: a patient, with a visit each year.

    >>> from phasic import multistate
    >>> model = multistate.MultiState({"well": ["ill"], "ill": ["dead"]})
    >>> rows = multistate.simulate(
    ...   model,
    ...   {"id": [1, 1, 1, 1], "year": [0.0, 1.0, 2.0, 3.0]},
    ...   subject="id",
    ...   time="year",
    ...   start="well",
    ...   exact=["dead"],
    ...   parameters={"rates": {"well -> ill": 1.0, "ill -> dead": 1.0}},
    ...   seed=3,
    ... )
    >>> list(rows), str(rows["state"][0])
    (['id', 'year', 'state'], 'well')

  Reference: D. T. Gillespie, Exact stochastic simulation of coupled chemical
    reactions, J. Phys. Chem. 81, 1977.
  """
  raw_arguments.check_string("state", state)
  known_seed = random.sanitize_seed(seed)
  rng = outcomes_lib.generator(known_seed)
  names = [str(x) for x in tables.column_names(visits, "visits")]
  others = [x for x in names if x not in (subject, time)]
  if state in (*others, subject, time):
    raise ValueError(
      f"state is {state!r}, which is a column of visits: it must be another name"
    )
  rows = panel_data.PanelData.from_table(
    visits, subject=subject, time=time, covariates=others
  )
  source = _source(fit, rows, parameters)
  known = _exact(exact, fit, source.spec.chain)
  paths = _paths(rng, source, rows, _starts(rng, source, rows, start))
  truth = source.spec.chain.state_of[paths.phase]
  observed = _observed(rng, known_seed, source, rows, truth)
  return _columns(source, rows, paths, observed, known, visits, (time, state))


@dataclasses.dataclass(frozen=True, eq=False)
class _Source:
  """A model with parameters.

  Attributes:
    spec: the arguments of the model.
    effects: coefficients on rates.
    errors: coefficients on wrong labels.
    parameters: arrays and distributions by name.
  """

  spec: reading.Spec
  effects: effects_lib.Columns
  errors: effects_lib.Columns
  parameters: Mapping[str, Any]


class _Paths(NamedTuple):
  """States of subjects.

  Attributes:
    phase: at each row of visits, (n,).
    entry: when a subject entered an absorbing state, inf for never, (s,).
    before: the row of the visit before that, (s,).
    last: this state, (s,).
  """

  phase: onp.ndarray
  entry: onp.ndarray
  before: onp.ndarray
  last: onp.ndarray


def _source(
  fit: object,
  rows: panel_data.PanelData,
  given: Mapping[str, Any] | None,
) -> _Source:
  """Reads a fit, or a model with parameters."""
  if given is not None and not isinstance(given, Mapping):
    raise TypeError(
      f"parameters is {raw_arguments.shown(given)}: it must map names to arrays"
    )
  model = fit.model if isinstance(fit, inference.ModelFit) else fit
  if not isinstance(model, models.MultiState):
    raise TypeError(
      f"fit is {type(fit).__name__}: it must be the ModelFit of a MultiState, or "
      "a MultiState"
    )
  spec = models.spec_of(model)
  if isinstance(fit, inference.ModelFit):
    bound = models.bound_of(model)
    effects, errors = bound.effects, bound.errors
    default = dict(fit.parameters)
  else:
    table = dict(rows.covariates)
    effects = effects_lib.read(spec.effects, table, spec.chain.rates, spec.cuts)
    errors = effects_lib.read(spec.errors, table, list(spec.hidden.errors))
    default = _starting(spec)
  labels = {
    "rates": spec.chain.rates,
    "effects": effects.labels,
    "initial_probs": initial_states.possible_states(spec)[1:],
    "misclassification": tuple(spec.hidden.errors),
    "misclassification_effects": errors.labels,
  }
  parameters = dict(default)
  for name, x in (given or {}).items():
    if name not in labels and name not in default:
      raise ValueError(
        f"parameters has {name!r}: it must be one of "
        f"{', '.join(dict.fromkeys([*default, *labels]))}"
      )
    parameters[name] = _numbers(name, x, labels.get(name), default.get(name))
  for name in ("rates", "effects", "misclassification_effects"):
    if labels[name] and name not in parameters:
      raise ValueError(
        f"parameters has no {name!r}: give the numbers of "
        f"{', '.join(labels[name])}"
      )
  return _Source(spec, effects, errors, parameters)


def _starting(spec: reading.Spec) -> dict[str, Any]:
  """Returns starting values of a model that has no data."""
  start: dict[str, Any] = dict(spec.hidden.parts())
  chain = spec.chain
  if set(chain.rates) <= set(chain.starts):
    start["rates"] = onp.asarray([chain.starts[x] for x in chain.rates])
  if spec.estimates_initial:
    start["initial_probs"] = initial_states.start_log_odds(spec)
  if spec.hidden.has_errors:
    start["misclassification"] = spec.hidden.starts
  return start


def _numbers(
  name: str, x: Any, labels: Sequence[str] | None, default: Any
) -> Any:
  """Reads one array of parameters; by label if it is a mapping."""
  if labels is None:
    return x
  if not isinstance(x, Mapping):
    values = onp.asarray(raw_arguments.host_array(x, name), onp.float64)
    if onp.shape(values) != (len(labels),):
      raise ValueError(
        f"{name} has shape {onp.shape(values)}: it must be ({len(labels)},), the "
        f"numbers of {', '.join(labels)}"
      )
    return values
  for label in x:
    if label not in labels:
      raise ValueError(
        f"{name} has {label!r}: it must be one of {', '.join(labels)}"
      )
  known: dict[str, float] = {}
  if default is not None:
    host = onp.asarray(static.concrete(default), onp.float64)
    known = dict(zip(labels, host.tolist(), strict=True))
  known |= {label: float(value) for label, value in x.items()}
  missing = [label for label in labels if label not in known]
  if missing:
    raise ValueError(f"{name} has no {missing[0]!r}: give its number")
  return onp.asarray([known[label] for label in labels])


def _exact(given: object, fit: object, chain: chains.Chain) -> list[str]:
  """Returns the states whose times of entry are known."""
  if given is None:
    if not isinstance(fit, inference.ModelFit):
      return []
    given = models.bound_of(rate_tables.model_of(fit)).data.exact
  states = panel_columns.names("exact", given)
  for x in states:
    if x not in chain.absorbing:
      raise ValueError(
        f"exact has {x!r}: it must be one of the absorbing states "
        f"{', '.join(chain.absorbing)}"
      )
  return states


def _starts(
  rng: onp.random.Generator,
  source: _Source,
  rows: panel_data.PanelData,
  start: object,
) -> onp.ndarray:
  """Returns the first state of each subject, (s,)."""
  spec, size = source.spec, len(rows.subjects)
  states = spec.chain.states
  if start is None:
    if spec.initial is None:
      raise ValueError(
        "start is None: it must name the first states, as the model has no "
        "initial_probs"
      )
    log_odds = source.parameters.get("initial_probs")
    log_odds = None if log_odds is None else _array(log_odds)
    by_phase = initial_states.log_probs(spec, log_odds, static.wide_float())
    probs = onp.exp(onp.asarray(static.concrete(by_phase)))
    members = onp.eye(len(states))[spec.chain.state_of]
    return _drawn(rng, onp.tile(onp.matmul(probs, members), (size, 1)))
  is_one = isinstance(start, str) or not isinstance(
    start, (Sequence, onp.ndarray)
  )
  given = panel_columns.names("start", [start] * size if is_one else start)
  if len(given) != size:
    raise ValueError(
      f"start has {len(given)} states: it must have one, or one for each of "
      f"{size} subjects"
    )
  for x in given:
    if x not in states:
      raise ValueError(
        f"start has {x!r}: it must be one of the states {', '.join(states)}"
      )
  return onp.asarray([states.index(x) for x in given])


def _paths(
  rng: onp.random.Generator,
  source: _Source,
  rows: panel_data.PanelData,
  first: onp.ndarray,
) -> _Paths:
  """Simulates the phases of all subjects."""
  chain = source.spec.chain
  size = len(rows.subjects)
  members = chain.start_rows[chain.num_phases :]
  phase = _drawn(rng, members[first])
  at_row = onp.zeros(len(rows.times), int)
  at_row[rows.is_first] = phase
  entry, last = onp.full(size, onp.inf), onp.zeros(size, int)
  before = onp.zeros(size, int)
  absorbing = onp.isin(onp.asarray(chain.states), chain.absorbing)
  segments = _segments(source, rows)
  order = _order(rows.subject[segments.row])
  for k in range(int(onp.max(order, initial=-1)) + 1):
    active = onp.flatnonzero(order == k)
    begins = active
    now = segments.begin[active]
    while len(active):
      who = rows.subject[segments.row[active]]
      rates = segments.rates[active] * (chain.sources == phase[who][:, None])
      sums = onp.cumsum(rates, axis=-1)
      total = sums[:, -1]
      with onp.errstate(divide="ignore"):
        after = now + rng.exponential(size=len(active)) / total
      jumps = after < segments.end[active]
      level = rng.uniform(size=len(active)) * total
      edge = onp.argmax(sums > level[:, None], axis=-1)[jumps]
      active, now, who = active[jumps], after[jumps], who[jumps]
      phase[who] = chain.targets[edge]
      reached = chain.state_of[phase[who]]
      dead = absorbing[reached] & chain.leaves_state[edge]
      entry[who[dead]] = now[dead]
      last[who[dead]] = reached[dead]
      before[who[dead]] = segments.row[active[dead]]
    closing = begins[segments.closes[begins]]
    at_row[segments.row[closing] + 1] = phase[
      rows.subject[segments.row[closing]]
    ]
  return _Paths(at_row, entry, before, last)


class _Segments(NamedTuple):
  """Parts of the intervals between visits, during which rates do not change.

  Attributes:
    row: where the interval begins, (n,).
    begin: of the part, (n,).
    end: (n,).
    closes: whether the interval ends there, (n,).
    rates: of edges, (n, m).
  """

  row: onp.ndarray
  begin: onp.ndarray
  end: onp.ndarray
  closes: onp.ndarray
  rates: onp.ndarray


def _segments(source: _Source, rows: panel_data.PanelData) -> _Segments:
  """Cuts the intervals between visits."""
  begins = onp.flatnonzero(onp.logical_not(rows.is_first)) - 1
  ends = [-math.inf, *source.effects.cuts, math.inf]
  parts: list[tuple[onp.ndarray, ...]] = []
  for low, high in itertools.pairwise(ends):
    begin = onp.maximum(rows.times[begins], low)
    end = onp.minimum(rows.times[begins + 1], high)
    use = begin < end
    closes = end == rows.times[begins + 1]
    parts.append((begins[use], begin[use], end[use], closes[use]))
  row, begin, end, closes = map(onp.concatenate, zip(*parts, strict=True))
  order = onp.lexsort((begin, row))
  row, begin, end, closes = (x[order] for x in (row, begin, end, closes))
  chain, effects = source.spec.chain, source.effects
  size = len(row)
  columns = onp.zeros((size, 0))
  coefficients = source.parameters.get("effects")
  if effects.labels:
    table = {name: x[row] for name, x in rows.covariates.items()}
    columns = effects.evaluate(table, size, begin)[:, effects.places]
  rates = likelihoods.edge_rates(
    chain,
    _array(source.parameters["rates"]),
    _array(coefficients) if effects.labels else None,
    _array(columns),
    effects.incidence,
  )
  known = onp.asarray(static.concrete(rates), onp.float64)
  bad = onp.logical_not((known >= 0.0) & onp.isfinite(known))
  if onp.any(bad):
    raise ValueError(
      f"parameters make a rate {known[bad][0]:g}: rates must be >= 0 and finite"
    )
  known = onp.broadcast_to(known, (size, onp.shape(known)[-1]))
  return _Segments(row, begin, end, closes, known)


def _columns(
  source: _Source,
  rows: panel_data.PanelData,
  paths: _Paths,
  observed: tuple[onp.ndarray, dict[str, onp.ndarray]],
  exact: Sequence[str],
  visits: TableLike,
  names: tuple[str, str],
) -> dict[str, onp.ndarray]:
  """Returns what is seen at visits and at times of entry."""
  time, state = names
  spec = source.spec
  states = onp.asarray(spec.chain.states)
  truth = spec.chain.state_of[paths.phase]
  hidden = spec.hidden
  wrong = {x for x, _ in hidden.errors.values()}
  # Visits before the one that is the last, and that one.
  ends = onp.isin(states, [x for x in spec.chain.absorbing if x not in wrong])
  order = _order(rows.subject)
  stop = onp.full(len(rows.subjects), len(rows.times))
  onp.minimum.at(stop, rows.subject, onp.where(ends[truth], order, len(order)))
  kept = order <= stop[rows.subject]
  timed = onp.isin(states[paths.last], exact) & onp.isfinite(paths.entry)
  kept &= onp.logical_not(
    timed[rows.subject] & (rows.times >= paths.entry[rows.subject])
  )
  seen, outcomes = observed
  at = onp.flatnonzero(kept)
  dead = onp.flatnonzero(timed)
  who = onp.concatenate([rows.subject[at], dead])
  when = onp.concatenate([rows.times[at], paths.entry[dead]])
  sort = onp.lexsort((when, who))
  origin = onp.concatenate([rows.rows[at], rows.rows[paths.before[dead]]])[sort]
  result = {
    str(name): tables.values(visits, str(name))[origin]
    for name in tables.column_names(visits, "visits")
  }
  result[time] = when[sort]
  entered = states[paths.last[dead]]
  result[state] = onp.concatenate([seen[at], entered])[sort]
  if hidden.has_errors or hidden.outcomes:
    known = onp.concatenate([states[truth[at]], entered])
    result[f"true_{state}"] = known[sort]
  for name, values in outcomes.items():
    none = onp.full(len(dead), onp.nan)
    result[name] = onp.concatenate([values[at], none])[sort]
  return result


def _observed(
  rng: onp.random.Generator,
  seed: SanitizedSeed,
  source: _Source,
  rows: panel_data.PanelData,
  truth: onp.ndarray,
) -> tuple[onp.ndarray, dict[str, onp.ndarray]]:
  """Draws labels and outcomes at all visits, given states."""
  hidden, errors = source.spec.hidden, source.errors
  states = onp.asarray(source.spec.chain.states)
  seen = states[truth]
  if hidden.has_errors:
    size = len(truth)
    columns = onp.zeros((1, 0))
    coefficients = None
    if errors.labels:
      columns = errors.evaluate(dict(rows.covariates), size, rows.times)
      columns = columns[:, errors.places]
      coefficients = _array(source.parameters["misclassification_effects"])
    logs = hidden.log_label_probs(
      _array(source.parameters["misclassification"]),
      coefficients,
      _array(columns),
      errors.incidence,
    )
    probs = onp.exp(onp.asarray(static.concrete(logs)))
    probs = onp.broadcast_to(probs, (size, *onp.shape(probs)[1:]))
    seen = states[_drawn(rng, probs[onp.arange(size), truth])]
  outcomes: dict[str, onp.ndarray] = {}
  for name, by_state in hidden.outcomes.items():
    values = onp.full(len(truth), onp.nan)
    for key, x in by_state.items():
      places = onp.flatnonzero(states[truth] == key)
      part, numbers = f"{name}.{key}", source.parameters
      seed = random.fold_in(seed, len(outcomes))
      if isinstance(x, outcomes_lib.Outcome):
        given = {y: numbers[f"{part}.{y}"] for y in x.parameters}
        drawn = x.sample(len(places), seed=seed, **given)
      else:
        drawn = numbers[part].sample(len(places), seed=seed)
      values[places] = onp.asarray(static.concrete(drawn), onp.float64)
    outcomes[name] = values
    if not hidden.has_errors:
      seen = onp.where(onp.isnan(values), seen, "")
  return seen, outcomes


def _array(x: object) -> Any:
  return structures.cast(x, static.wide_float())


def _order(groups: onp.ndarray) -> onp.ndarray:
  """Returns 0, 1, ... in each run of equal numbers, (n,)."""
  places = onp.arange(len(groups))
  first = onp.concatenate([[True], groups[1:] != groups[:-1]])[: len(groups)]
  return places - onp.maximum.accumulate(onp.where(first, places, 0))


def _drawn(rng: onp.random.Generator, probs: onp.ndarray) -> onp.ndarray:
  """Draws an index for each row of probabilities, (n,)."""
  sums = onp.cumsum(probs, axis=-1)
  level = rng.uniform(size=len(probs)) * sums[:, -1]
  return onp.argmax(sums > level[:, None], axis=-1)
