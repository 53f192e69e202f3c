"""A fit to simulated times, next to the model that they come from."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from demo import coxian
from phasic.substrates import jax as ph

# Progression rates, then exit rates: three phases with total rates 5, 1 and
# 0.15, which lie well apart and are in canonical order.
TRUTH = np.array([3.5, 0.6, 1.5, 0.4, 0.15])


def simulate(n: int, seed: int) -> np.ndarray:
  """Returns n times from the true model."""

  @jax.jit
  def draw(key):
    return coxian.distribution(jnp.asarray(TRUTH)).sample(n, seed=key)

  return np.asarray(draw(jax.random.key(seed)))


def compare(fit: ph.inference.Fit, times: np.ndarray) -> None:
  """Prints the true and the fitted model next to each other."""
  truth = coxian.distribution(TRUTH)
  at_truth = float(fit.observations.log_likelihood(truth))
  above = 2 * (fit.log_likelihood - at_truth)
  tail = stats.chi2.sf(above, len(TRUTH))
  print(f"  log-likelihood at the truth {at_truth:.4f}")
  print(f"  log-likelihood at the fit   {fit.log_likelihood:.4f}")
  print(
    f"  twice the difference is {above:.2f}; it is about chi-square with "
    f"{len(TRUTH)} degrees of\n  freedom, and larger in {100 * tail:.0f} of "
    "100 repetitions"
  )
  header = f"{'true':>11s}{'fitted':>11s}{'std. error':>12s}{'z':>8s}"
  print(f"\n  {'':24s}{header}")
  rates = coxian.rates_of(fit.distribution)
  errors = np.concatenate(list(fit.standard_errors.values()))
  for i, name in enumerate(coxian.names(fit.distribution.num_phases)):
    _row(name, TRUTH[i], rates[i], errors[i])
  print(f"\n  {'':24s}{header}{'data':>11s}")
  for name, method, arguments, of_data in _quantities(times):
    there = float(getattr(truth, method)(*arguments))
    here = float(getattr(fit.distribution, method)(*arguments))
    error = float(fit.standard_error_of(method, *arguments))
    _row(name, there, here, error, f"{of_data:11.4f}")
  print(
    "\n  The phases are in canonical order, in which the rates of a "
    "distribution are unique.\n  z = (fitted - true) / std. error. Standard "
    "errors of functions of the rates are by\n  the delta method, with exact "
    "derivatives."
  )


def _row(name: str, true, fitted, error, more: str = "") -> None:
  z = (fitted - true) / error
  print(f"  {name:24s}{true:11.4f}{fitted:11.4f}{error:12.4f}{z:8.2f}{more}")


def _quantities(
  times: np.ndarray,
) -> list[tuple[str, str, tuple[float, ...], float]]:
  """Returns names, methods, their arguments, and the data's own values."""
  found: list[tuple[str, str, tuple[float, ...], float]] = [
    ("mean", "mean", (), float(np.mean(times))),
    ("standard deviation", "stddev", (), float(np.std(times))),
  ]
  for u in (0.1, 0.5, 0.9, 0.99):
    name = "median" if u == 0.5 else f"{100 * u:g}% quantile"
    found.append((name, "quantile", (u,), float(np.quantile(times, u))))
  for t in (1.0, 5.0, 20.0):
    share = float(np.mean(times > t))
    found.append((f"P(T > {t:g})", "survival_function", (t,), share))
  return found
