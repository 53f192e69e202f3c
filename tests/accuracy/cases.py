"""The models and times at which accuracy is promised and tested."""

import numpy as onp

from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle

# From the deep left tail (log f of Erlang-10 at 1e-33 is -697) over the body
# to log f = -700 in the right tail.
TIMES = {
  "erlang": (1e-33, 1e-20, 1e-3, 0.5, 9.0, 60.0, 300.0, 748.0),
  "cyclic": (1e-300, 1e-20, 1e-3, 0.5, 3.0, 40.0, 800.0, 1100.0),
  "near_equal": (1e-40, 1e-20, 1e-3, 0.5, 7.0, 60.0, 735.0),
  "birth_death": (1e-150, 1e-20, 1e-3, 2.0, 30.0, 1000.0, 7800.0),
}
DERIVATIVE_TIMES = {
  "erlang": (1e-20, 0.5, 9.0, 700.0),
  "cyclic": (1e-20, 0.5, 3.0, 1000.0),
  "near_equal": (1e-20, 0.5, 7.0, 700.0),
  "birth_death": (1e-20, 2.0, 30.0, 7800.0),
}
MODELS = {
  "erlang": models.erlang(),
  "cyclic": models.cyclic(),
  "near_equal": models.near_equal(),
  "birth_death": models.birth_death(),
}
# (exits given, atom): an atom of None is derived from alpha.
OPTIONS = {
  "exits_given": (True, None),
  "exits_derived": (False, None),
  "exits_and_atom_given": (True, 0.25),
}


def operands(model: str, options: str, time: object = 1.0) -> oracle.Operands:
  """The operands of a case."""
  exits, atom = OPTIONS[options]
  return models.with_options(MODELS[model], exits, atom)._replace(
    time=onp.asarray(time, onp.float64)
  )


def small_model(**changes) -> oracle.Operands:
  """Three phases with everything given, at time 1.5, with changes."""
  model = models.with_options(models.cyclic(), exits=True, atom=0.25)
  return model._replace(time=1.5, **changes)


def log_tolerance(truth: float) -> float:
  """max(1e-12, 8 ulp) of a log."""
  return max(1e-12, 8.0 * onp.spacing(abs(truth)))


def value_tolerance(kind: str, truth: float) -> float:
  """What DESIGN promises for a value: for its log, or relative to it."""
  if kind.startswith("log_"):
    return log_tolerance(truth)
  if truth == 0.0:
    return 1e-307
  return truth * log_tolerance(onp.log(truth)) + 1e-307
