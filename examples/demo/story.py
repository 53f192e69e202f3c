"""What the demo does, from the data to the picture."""

import time

import jax.numpy as jnp
import numpy as np

from demo import coxian
from demo import fitting
from demo import picture
from demo import recovery
from demo import same_bits
from demo import uncertainty


def read(path: str) -> np.ndarray:
  """Returns the durations of a CSV file with one column and a header."""
  return np.loadtxt(path, skiprows=1, dtype=np.float64)


def assess(fit: fitting.Fit, times: np.ndarray) -> uncertainty.Uncertainty:
  """Says what is known about the parameters of a fit."""
  return uncertainty.assess(
    information=-np.asarray(coxian.hessian(fit.log_rates, times)),
    scores=np.asarray(coxian.scores(fit.log_rates, times)),
    slopes_at_zero=np.asarray(coxian.gradient_of_rates(fit.rates, times)),
    at_zero=np.isneginf(fit.log_rates),
    at_top=fit.at_top,
  )


def print_aic(fits: list[fitting.Fit], best: fitting.Fit) -> None:
  print(
    f"  {'phases':>6s}{'parameters':>12s}{'log-likelihood':>16s}{'AIC':>10s}"
    f"{'above best':>12s}{'slope left':>12s}{'starts':>8s}{'there':>7s}"
  )
  for fit in fits:
    print(
      f"  {fit.num_phases:6d}{len(fit.log_rates):12d}"
      f"{fit.log_likelihood:16.4f}{fit.aic:10.3f}{fit.aic - best.aic:12.3f}"
      f"{fit.largest_slope:12.1e}{fit.num_starts:8d}{fit.num_reached:7d}"
      + ("  <- best" if fit is best else "")
    )
  print(
    "  AIC counts all 2 p - 1 rates. 'there': starts that ended at this "
    "log-likelihood."
  )


def print_fit(fit: fitting.Fit, known: uncertainty.Uncertainty) -> None:
  p = fit.num_phases
  print(f"\n  {p} phase{'s' if p > 1 else ''}, rates per day")
  print(f"  {'':20s}{'rate':>10s}{'std. error':>12s}{'95% interval':>20s}")
  for name, rate, error, status in zip(
    coxian.names(p),
    fit.rates,
    known.standard_errors,
    known.statuses,
    strict=True,
  ):
    if status == uncertainty.IDENTIFIED:
      low, high = rate * np.exp(1.96 * error * np.array([-1, 1]))
      said = f"{rate * error:12.5f}{f'{low:.4f} .. {high:.4f}':>20s}"
    else:
      said = f"    {status}"
    print(f"  {name:20s}{rate:10.5f}{said}")
  values = ", ".join(f"{v:.3g}" for v in known.eigenvalues)
  print(
    f"  eigenvalues of the information off the boundary: {values}; "
    f"flat directions: {known.num_flat}"
  )
  if together := equal_totals(fit):
    listed = " and ".join(", ".join(map(str, group)) for group in together)
    print(
      f"  Phases {listed} leave at the same total rate. They could change "
      "places, so that\n  to first order no density changes when their rates "
      "move apart: expected\n  information about that is zero, and the "
      "likelihood bends there only by chance."
    )


def equal_totals(fit: fitting.Fit) -> list[list[int]]:
  """Returns groups of phases, counted from 1, with the same total rate."""
  p = fit.num_phases
  total = np.append(fit.rates[: p - 1], 0.0) + fit.rates[p - 1 :]
  groups: list[list[int]] = [[1]]
  for i in range(1, p):
    if np.isclose(total[i], total[i - 1], rtol=1e-4, atol=0.0):
      groups[-1].append(i + 1)
    else:
      groups.append([i + 1])
  return [group for group in groups if len(group) > 1]


def tell(
  data: str, output: str, num_random: int, num_simulated: int, seed: int
) -> bool:
  """Runs the demo; returns whether the substrates gave the same bits."""
  began = time.monotonic()

  def step(text: str) -> None:
    print(f"\n[{time.monotonic() - began:5.1f} s] {text}", flush=True)

  rng = np.random.default_rng(seed)
  times = read(data)
  print(
    f"{len(times)} strike durations (Kennan 1985): {times.min():g} to "
    f"{times.max():g} days, mean {times.mean():.2f}, sd {times.std():.2f}"
  )

  step("Coxian phase-types by maximum likelihood, exact gradients")
  fits: list[fitting.Fit] = []
  for p in range(1, 5):
    smaller = fits[-1] if fits else None
    fits.append(fitting.fit(times, p, num_random, rng, smaller))
  best = min(fits, key=lambda f: f.aic)
  print_aic(fits, best)

  step("Standard errors from the exact Hessian of the log-likelihood")
  print(
    "  Intervals are made for the log-rates. A direction is flat if its "
    "eigenvalue, of the\n  information or of the sum of the scores' outer "
    f"products, is below {uncertainty.FLAT:g} of the\n  largest; a parameter "
    f"whose share in the flat directions is above {uncertainty.SHARE:g} is "
    "'not\n  identified'. 'On the boundary (rate 0)': the log-likelihood falls "
    "as the rate leaves 0."
  )
  for fit in fits:
    print_fit(fit, assess(fit, times))

  step("Log-likelihood and gradient of the 3-phase fit, three ways")
  model = tuple(
    np.asarray(a) for a in coxian.arrays(jnp.asarray(fits[2].rates))
  )
  alike = same_bits.compare(model, times)

  step(f"Recovery: 3 phases fitted to {num_simulated} simulated times")
  simulated = recovery.simulate(num_simulated, seed)
  fit = fitting.fit(simulated, 3, min(num_random, 4), rng)
  recovery.compare(fit, assess(fit, simulated), simulated)

  step("Picture")
  picture.draw(times, fits, best, output)
  print(f"  {output}")
  step("Done")
  return alike
