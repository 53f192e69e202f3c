"""A fit to simulated times, next to the model that they come from."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from scipy import optimize
from scipy import stats

from demo import coxian
from demo import fitting
from demo import uncertainty
from phasic.substrates import numpy as ph_numpy

# Progression rates, then exit rates: three phases with total rates 5, 1 and
# 0.15, which lie well apart and are in canonical order.
TRUTH = np.array([3.5, 0.6, 1.5, 0.4, 0.15])


def simulate(n: int, seed: int) -> np.ndarray:
  """Returns n times from the true model."""

  @jax.jit
  def draw(key):
    return coxian.distribution(jnp.asarray(TRUTH)).sample(n, seed=key)

  return np.asarray(draw(jax.random.key(seed)))


def compare(
  fit: fitting.Fit, known: uncertainty.Uncertainty, times: np.ndarray
) -> None:
  """Prints the true and the fitted model next to each other."""
  at_truth = float(coxian.log_likelihood(np.log(TRUTH), times))
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
  for i, name in enumerate(coxian.names(fit.num_phases)):
    error = fit.rates[i] * known.standard_errors[i]
    _row(name, TRUTH[i], fit.rates[i], error)
  print(f"\n  {'':24s}{header}{'data':>11s}")
  for name, quantity, of_data in _quantities(times):
    there, here, error = _delta(quantity, fit.log_rates, known.covariance)
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


# Takes log-rates and returns a value and its gradient.
Quantity = Callable[[np.ndarray], tuple[float, np.ndarray]]


def _quantities(times: np.ndarray) -> list[tuple[str, Quantity, float]]:
  """Returns names, functions of the log-rates, and the data's own values."""
  found = [
    ("mean", _differentiated(lambda dist: dist.mean()), np.mean(times)),
    (
      "standard deviation",
      _differentiated(lambda dist: dist.stddev()),
      np.std(times),
    ),
  ]
  for u in (0.1, 0.5, 0.9, 0.99):
    name = "median" if u == 0.5 else f"{100 * u:g}% quantile"
    found.append((name, _quantile(u), np.quantile(times, u)))
  for t in (1.0, 5.0, 20.0):
    found.append((f"P(T > {t:g})", _survival(t), np.mean(times > t)))
  return found


def _differentiated(statistic: Callable) -> Quantity:
  """Returns a statistic of the distribution as a quantity."""

  def of_log_rates(log_rates):
    return statistic(coxian.distribution(jnp.exp(log_rates)))

  return jax.jit(jax.value_and_grad(of_log_rates))


def _survival(t: float) -> Quantity:
  return _differentiated(lambda dist: dist.survival_function(t))


def _quantile(probability: float) -> Quantity:
  """Returns the quantile; its gradient is - (dF / d log_rates) / f."""

  def quantity(log_rates):
    # A search by many small steps, for which NumPy is the quickest.
    initial_probs, subgenerator, exit_rates = map(
      np.asarray, coxian.arrays(jnp.exp(log_rates))
    )
    dist = ph_numpy.distributions.PhaseType(
      initial_probs, subgenerator, exit_rates=exit_rates
    )
    q = optimize.brentq(
      lambda t: float(dist.cdf(t)) - probability,
      0.0,
      100 * float(dist.mean()),
    )
    slope = np.asarray(_slope_of_cdf(log_rates, q))
    return q, -slope / float(dist.prob(q))

  return quantity


@jax.jit
@jax.grad
def _slope_of_cdf(log_rates, t):
  return coxian.distribution(jnp.exp(log_rates)).cdf(t)


def _delta(
  quantity: Quantity, log_rates: np.ndarray, covariance: np.ndarray
) -> tuple[float, float, float]:
  """Returns a quantity at the truth and at the fit, and its standard error."""
  there = float(quantity(np.log(TRUTH))[0])
  here, slope = quantity(log_rates)
  slope = np.asarray(slope)
  return there, float(here), float(np.sqrt(slope @ covariance @ slope))
