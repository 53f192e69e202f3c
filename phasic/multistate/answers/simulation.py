"""Simulation of subjects of multi-state models, who are seen at visits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as onp

from phasic import inference
from phasic.internal import random
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import tables
from phasic.internal.arrays import ArrayLike, SanitizedSeed, Seed
from phasic.internal.tables import TableLike
from phasic.multistate.answers import rate_tables
from phasic.multistate.answers import simulated_models
from phasic.multistate.answers import simulated_paths
from phasic.multistate.data import panel_columns
from phasic.multistate.data import panel_data
from phasic.multistate.likelihood import initial_states
from phasic.multistate.likelihood import models
from phasic.multistate.likelihood import outcomes as outcomes_lib
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

  simulated_paths.Paths are exact: a chain jumps at exponential times, whose rates change with
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
  source = simulated_models.read(fit, rows, parameters)
  known = _exact(exact, fit, source.spec.chain)
  paths = simulated_paths.drawn_paths(
    rng, source, rows, _starts(rng, source, rows, start)
  )
  truth = source.spec.chain.state_of[paths.phase]
  observed = _observed(rng, known_seed, source, rows, truth)
  return _columns(source, rows, paths, observed, known, visits, (time, state))


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
  source: simulated_models.Source,
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
    log_odds = None if log_odds is None else simulated_models.array(log_odds)
    by_phase = initial_states.log_probs(spec, log_odds, static.wide_float())
    probs = onp.exp(onp.asarray(static.concrete(by_phase)))
    members = onp.eye(len(states))[spec.chain.state_of]
    return simulated_paths.drawn(
      rng, onp.tile(onp.matmul(probs, members), (size, 1))
    )
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


def _columns(
  source: simulated_models.Source,
  rows: panel_data.PanelData,
  paths: simulated_paths.Paths,
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
  order = simulated_paths.order_in_runs(rows.subject)
  stop = onp.full(len(rows.subjects), len(rows.times))
  onp.minimum.at(stop, rows.subject, onp.where(ends[truth], order, len(order)))
  kept = order <= stop[rows.subject]
  timed = onp.isin(states[paths.last], exact) & onp.isfinite(paths.entry)
  late = rows.times >= paths.entry[rows.subject]
  kept = kept & onp.logical_not(timed[rows.subject] & late)
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
  source: simulated_models.Source,
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
      coefficients = simulated_models.array(
        source.parameters["misclassification_effects"]
      )
    logs = hidden.log_label_probs(
      simulated_models.array(source.parameters["misclassification"]),
      coefficients,
      simulated_models.array(columns),
      errors.incidence,
    )
    probs = onp.exp(onp.asarray(static.concrete(logs)))
    probs = onp.broadcast_to(probs, (size, *onp.shape(probs)[1:]))
    seen = states[simulated_paths.drawn(rng, probs[onp.arange(size), truth])]
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
