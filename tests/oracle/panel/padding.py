"""Models and rows as arrays, filled up to common sizes."""

import dataclasses

import numpy as np

from tests.oracle.panel import records


def _pairs(pairs, size: int) -> tuple[np.ndarray, np.ndarray]:
  """Returns pairs `[size, 2]`, filled up with (0, 0), and which are real."""
  filled = np.zeros((size, 2), int)
  filled[: len(pairs)] = np.reshape(pairs, (-1, 2))
  return filled, np.arange(size) < len(pairs)


def sizes(
  model: records.Model,
  subjects: list[list[records.Row]],
  num_parameters: int,
  least: records.Sizes,
) -> records.Sizes:
  """Returns the sizes of a case, or the least ones where these are larger."""
  rows = [row for subject in subjects for row in subject]
  outcomes = [len(row.outcome) for row in rows if row.outcome is not None]
  return dataclasses.replace(
    least,
    parameters=max(least.parameters, num_parameters),
    states=max(least.states, model.num_states),
    transitions=max(least.transitions, len(model.transitions)),
    covariates=max(least.covariates, len(rows[0].covariates)),
    cuts=max(least.cuts, len(model.cuts)),
    mislabels=max(least.mislabels, len(model.mislabels)),
    outcomes=max([least.outcomes, *outcomes]),
    subjects=max(least.subjects, len(subjects)),
    rows=max(least.rows, *(len(subject) for subject in subjects)),
  )


def places(parameters: dict, size: records.Sizes) -> dict:
  """Returns where filled parameters lie among the flattened ones.

  Integers with the filled shape of each parameter; what is no parameter lies at
  `size.parameters`, where a zero has to be.
  """
  shapes = {
    "log_intensities": (size.transitions,),
    "effects": (size.transitions, size.covariates),
    "period_effects": (size.cuts, size.transitions),
    "start_logits": (size.states - 1,),
    "label_logits": (size.mislabels,),
    "label_effects": (size.mislabels, size.covariates),
    **{name: (size.states,) for name in size.outcome_parameters},
  }
  result, first = {}, 0
  for name in sorted(parameters):  # As jax.flatten_util.ravel_pytree.
    shape = np.shape(parameters[name])
    count = int(np.prod(shape))
    full = shapes.pop(name, (size.states, *shape[1:]))
    result[name] = np.full(full, size.parameters)
    result[name][tuple(map(slice, shape))] = np.reshape(
      first + np.arange(count), shape
    )
    first += count
  for name, shape in shapes.items():
    result[name] = np.full(shape, size.parameters)
  return result


def structure(model: records.Model, size: records.Sizes) -> dict:
  """Returns the model as arrays."""
  transitions, is_transition = _pairs(model.transitions, size.transitions)
  mislabels, is_mislabel = _pairs(model.mislabels, size.mislabels)
  start = np.zeros(size.states, int)
  is_start = np.zeros(size.states, bool)
  logits = np.zeros(size.states)
  if model.start is not None:
    start[: len(model.start)] = model.start
    is_start[: len(model.start)] = True
  else:
    is_start[0] = True  # Unused, but finite.
  if model.start_probs is not None:
    logits[: len(model.start)] = np.log(model.start_probs)
  return {
    "transitions": transitions,
    "is_transition": is_transition,
    "mislabels": mislabels,
    "is_mislabel": is_mislabel,
    "start": start,
    "is_start": is_start,
    "start_logits": logits,
    "starts_known": np.array(model.start is None),
  }


def _durations(start, stop, cuts, num_cuts: int) -> np.ndarray:
  """Returns the time of [start, stop] in each period, `[num_cuts + 1]`."""
  edges = np.full(num_cuts + 2, np.inf)
  edges[: len(cuts) + 1] = (-np.inf, *cuts)
  return np.diff(np.clip(edges, start, stop))


def rows(
  model: records.Model,
  subjects: list[list[records.Row]],
  size: records.Sizes,
) -> dict:
  """Returns arrays `[subjects, rows, ...]`.

  Rows after the last one of a subject have no duration and know nothing.
  """
  shapes = {
    "durations": (size.cuts + 1,),
    "before": (size.covariates,),
    "covariates": (size.covariates,),
    "outcome": (size.outcomes,),
    "possible": (size.states,),
    "motion": (),
    "labels": (size.states,),
    "has_labels": (),
    "has_outcome": (),
  }
  shape = (size.subjects, size.rows)
  arrays = {name: np.zeros((*shape, *rest)) for name, rest in shapes.items()}
  arrays["possible"][..., : model.num_states] = 1.0
  arrays["motion"] = arrays["motion"].astype(int)
  for s, subject in enumerate(subjects):
    for t, row in enumerate(subject):
      last = subject[max(t - 1, 0)]
      arrays["durations"][s, t] = _durations(
        last.time, row.time, model.cuts, size.cuts
      )
      arrays["before"][s, t, : len(last.covariates)] = last.covariates
      arrays["covariates"][s, t, : len(row.covariates)] = row.covariates
      arrays["motion"][s, t] = row.motion
      if row.states is not None:
        arrays["possible"][s, t] = np.isin(np.arange(size.states), row.states)
      if row.labels is not None:
        arrays["labels"][s, t] = np.isin(np.arange(size.states), row.labels)
        arrays["has_labels"][s, t] = 1.0
      if row.outcome is not None:
        arrays["outcome"][s, t, : len(row.outcome)] = row.outcome
        arrays["has_outcome"][s, t] = 1.0
  return arrays
