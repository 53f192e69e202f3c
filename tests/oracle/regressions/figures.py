"""How figures of regressions are stored: as tables that one can read."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Fit:
  """A fitted regression.

  Attributes:
    log_likelihood: of times, not of their logs.
    names: of the parameters: effects on log time, then the log scales.
    estimates: `[k]`, of the parameters.
    errors: `[k]` standard errors, from the inverse of the observed information.
    robust_errors: `[k]` sandwich errors, NaN where there are none.
  """

  log_likelihood: float
  names: tuple[str, ...]
  estimates: np.ndarray
  errors: np.ndarray
  robust_errors: np.ndarray


def fit(log_likelihood: float, text: str) -> Fit:
  """Reads lines of a name, an estimate, its error and its robust error."""
  rows = [line.split() for line in text.strip().splitlines()]
  numbers = np.array([row[1:] for row in rows], float)
  return Fit(log_likelihood, tuple(row[0] for row in rows), *numbers.T)


def array(text: str) -> np.ndarray:
  """Reads a matrix, of which each line is a row."""
  return np.array([line.split() for line in text.strip().splitlines()], float)


def fit_source(name: str, fit: Fit) -> str:
  """Returns the assignment of a fit to a name, as source text."""
  numbers = zip(fit.estimates, fit.errors, fit.robust_errors, strict=True)
  lines = [
    " ".join([f"{label:9s}", *(f"{float(x)!r:21s}" for x in row)]).rstrip()
    for label, row in zip(fit.names, numbers, strict=True)
  ]
  body = "\n".join(lines)
  value = fit.log_likelihood
  return f'{name} = figures.fit(\n  {value!r},\n  """\n{body}\n""",\n)\n'


def array_source(name: str, rows: np.ndarray) -> str:
  """Returns the assignment of a matrix to a name, as source text."""
  body = "\n".join(
    " ".join(f"{float(x)!r:21s}" for x in row).rstrip() for row in rows
  )
  return f'{name} = figures.array("""\n{body}\n""")\n'
