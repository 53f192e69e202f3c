"""Random models with simulated observations of all kinds."""

import dataclasses

import jax.numpy as jnp
import jax.scipy.stats as stats
import numpy as np

from tests.oracle.panel import records


@dataclasses.dataclass(frozen=True)
class Case:
  """A model with parameters and observations of subjects.

  Attributes:
    parameters: as `likelihood.log_likelihood` takes.
    model: with `records.Model.outcome` either None or `normal`.
    subjects: rows of each.
  """

  parameters: dict
  model: records.Model
  subjects: list[list[records.Row]]


def normal(parameters, outcome, covariates):
  """Log densities of normal outcomes with a mean and a log sd per state."""
  del covariates
  sds = jnp.exp(parameters["log_sds"])
  return stats.norm.logpdf(outcome[0], parameters["means"], sds)


# Of all cases, for functions that are compiled once.
SIZES = records.Sizes(
  parameters=44,
  states=8,
  transitions=10,
  covariates=2,
  cuts=1,
  mislabels=4,
  outcomes=1,
  subjects=10,
  rows=5,
  outcome=normal,
  outcome_parameters=("means", "log_sds"),
)


def _transitions(rng, p: int) -> tuple[tuple[int, int], ...]:
  """Draws a way through all states, and others; the last may be absorbing."""
  pairs = {(i, i + 1) for i in range(p - 1)}
  sources = p - 1 if rng.random() < 0.7 else p
  for _ in range(int(rng.integers(0, 4))):
    i, j = int(rng.integers(sources)), int(rng.integers(p))
    if i != j:
      pairs.add((i, j))
  return tuple(sorted(pairs))


def _model(rng) -> records.Model:
  p = int(rng.integers(2, 9))
  transitions = _transitions(rng, p)
  leaving = sorted({i for i, _ in transitions})
  mislabels = ()
  if rng.random() < 0.4:
    pairs = {
      (i, int(rng.choice([j for j in leaving if j != i] or [i])))
      for i in rng.choice(leaving, min(3, len(leaving)), replace=False)
    }
    mislabels = tuple(sorted((int(i), j) for i, j in pairs if i != j))
  outcome = normal if rng.random() < 0.4 else None
  hidden = bool(mislabels) or outcome is not None
  start, probs = None, None
  if hidden or rng.random() < 0.3:
    start = tuple(leaving[: 1 + int(rng.integers(3))])
    if len(start) == 1 or rng.random() < 0.5:
      draws = rng.random(len(start)) + 0.2
      probs = tuple(float(x) for x in draws / draws.sum())
  return records.Model(
    p,
    transitions,
    cuts=(float(rng.uniform(0.3, 1.0)),) if rng.random() < 0.5 else (),
    start=start,
    start_probs=probs,
    mislabels=mislabels,
    outcome=outcome,
  )


def _parameters(rng, model: records.Model, k: int) -> dict:
  m, p = len(model.transitions), model.num_states
  shapes = {"log_intensities": (m,)}
  if k:
    shapes["effects"] = (m, k)
  if model.cuts:
    shapes["period_effects"] = (len(model.cuts), m)
  if model.start is not None and model.start_probs is None:
    shapes["start_logits"] = (len(model.start) - 1,)
  if model.mislabels:
    shapes["label_logits"] = (len(model.mislabels),)
    if k:
      shapes["label_effects"] = (len(model.mislabels), k)
  if model.outcome is not None:
    shapes |= {"means": (p,), "log_sds": (p,)}
  values = {
    name: 0.4 * rng.standard_normal(shape) for name, shape in shapes.items()
  }
  if model.mislabels:
    values["label_logits"] -= 1.5
  if model.outcome is not None:
    values["means"] += np.arange(p)
  return values


class _Subject:
  """Simulates one subject: the path between rows, then what a row shows."""

  def __init__(self, rng, model, parameters, k):
    self.rng, self.model, self.k = rng, model, k
    self.parameters = parameters
    self.leaving = {i for i, _ in model.transitions}
    self.hidden = bool(model.mislabels) or model.outcome is not None

  def _intensities(self, state, time, covariates):
    period = int(np.searchsorted(self.model.cuts, time, side="right"))
    logs = self.parameters["log_intensities"].copy()
    if self.k:
      logs += self.parameters["effects"] @ np.array(covariates)
    if period:
      logs += self.parameters["period_effects"][period - 1]
    return {
      j: np.exp(log)
      for (i, j), log in zip(self.model.transitions, logs, strict=True)
      if i == state
    }

  def path(self, state, start, stop, covariates):
    """Draws the jumps (time, state) in an interval."""
    jumps, time = [], start
    while time < stop and state in self.leaving:
      end = min([cut for cut in self.model.cuts if cut > time] + [stop])
      rates = self._intensities(state, time, covariates)
      time += self.rng.exponential(1.0 / sum(rates.values()))
      if time >= end:
        time = end
        continue
      weights = np.array(list(rates.values()))
      state = list(rates)[
        self.rng.choice(len(rates), p=weights / weights.sum())
      ]
      jumps.append((float(time), state))
    return jumps

  def covariates(self) -> tuple[float, ...]:
    """Draws covariates of a row."""
    return tuple(float(x) for x in self.rng.uniform(-1.0, 1.0, self.k))

  def row(self, time, state, covariates, motion=records.VISIT, known=False):
    """Returns a row that shows the state in one of the ways of the model.

    With wrong labels a row has labels, unless its state is absorbing.
    """
    row = records.Row(time, (state,), motion, covariates=covariates)
    has_labels = bool(self.model.mislabels)
    if state not in self.leaving or (known and not has_labels):
      return row
    if has_labels or (self.hidden and self.rng.random() < 0.7):
      alive = tuple(sorted(self.leaving))
      labels, outcome = self._labels(state), self._outcome(state)
      return dataclasses.replace(
        row, states=alive, labels=labels, outcome=outcome
      )
    if self.rng.random() < 0.6:
      return row
    others = self.rng.choice(self.model.num_states, 2)
    states = tuple(sorted({state, *map(int, others)}))
    return dataclasses.replace(row, states=states)

  def _labels(self, state):
    if not self.model.mislabels:
      return None
    wrong = [j for i, j in self.model.mislabels if i == state]
    label = int(self.rng.choice([state, state, *wrong]))
    other = int(self.rng.choice(sorted(self.leaving)))
    sure = self.rng.random() < 0.8
    return (label,) if sure else tuple(sorted({label, other}))

  def _outcome(self, state):
    missing = self.model.mislabels and self.rng.random() < 0.3
    if self.model.outcome is None or missing:
      return None
    mean = self.parameters["means"][state]
    sd = np.exp(self.parameters["log_sds"][state])
    return (float(mean + sd * self.rng.standard_normal()),)


def _subject(rng, model, parameters, k) -> list[records.Row]:
  subject = _Subject(rng, model, parameters, k)
  states = model.start or tuple(sorted(subject.leaving))
  state, time, rows = int(rng.choice(states)), 0.0, []
  known = model.start is None
  rows.append(subject.row(time, state, subject.covariates(), known=known))
  visits = int(rng.integers(2, 5))
  while len(rows) <= visits and state in subject.leaving:
    covariates = rows[-1].covariates
    stop = float(time + rng.uniform(0.2, 1.2))
    jumps = subject.path(state, time, stop, covariates)
    way = rng.random()
    held = len(rows[-1].states) == 1 and not model.mislabels
    if jumps and way < 0.5:  # The row is the first, or the last jump.
      exact = way < 0.25 and held
      time, state = jumps[0] if exact else jumps[-1]
      motion = records.EXACT if exact else records.ENTRY
      if model.mislabels and state in subject.leaving:
        motion = records.VISIT
    else:
      time, state = stop, jumps[-1][1] if jumps else state
      exact = not jumps and way < 0.2 and held
      motion = records.EXACT if exact else records.VISIT
    known = motion != records.VISIT
    rows.append(subject.row(time, state, subject.covariates(), motion, known))
  return rows


def random_case(rng: np.random.Generator) -> Case:
  """Draws a model with 2 to 8 states and the rows of 3 to 10 subjects.

  The first state is known unless the model has probabilities of states, and
  the state before an exactly known transition is known; with wrong labels only
  absorbing states are known, and no other times of transitions.
  """
  while True:
    model = _model(rng)
    k = int(rng.integers(0, 3))
    parameters = _parameters(rng, model, k)
    subjects = [
      _subject(rng, model, parameters, k)
      for _ in range(int(rng.integers(3, 11)))
    ]
    last = max(subject[-1].time for subject in subjects)
    if (
      len(model.transitions) <= SIZES.transitions
      and sum(x.size for x in parameters.values()) <= SIZES.parameters
      and all(cut < last for cut in model.cuts)
    ):
      return Case(parameters, model, subjects)
