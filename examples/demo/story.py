"""What the demo does, from the data to the picture."""

import time

import jax.numpy as jnp
import numpy as np

from demo import coxian
from demo import fitting
from demo import picture
from demo import recovery
from demo import same_bits
from phasic.substrates import jax as ph

# Days after which strikes are no longer followed, where censoring is shown.
_LOOKED_FOR = 100.0


def read(path: str) -> np.ndarray:
  """Returns the durations of a CSV file with one column and a header."""
  return np.loadtxt(path, skiprows=1, dtype=np.float64)


def print_aic(fits: list[ph.inference.Fit], best: ph.inference.Fit) -> None:
  print(
    f"  {'phases':>6s}{'parameters':>12s}{'log-likelihood':>16s}{'AIC':>10s}"
    f"{'above best':>12s}{'slope left':>12s}{'starts':>8s}{'there':>7s}"
  )
  for fit in fits:
    reached = fit.record.reached
    there = sum(x > fit.log_likelihood - 1e-3 for x in reached)
    print(
      f"  {fit.distribution.num_phases:6d}{fit.num_parameters:12d}"
      f"{fit.log_likelihood:16.4f}{fit.aic:10.3f}{fit.aic - best.aic:12.3f}"
      f"{fit.record.gradient_norm:12.1e}{len(reached):8d}{there:7d}"
      + ("  <- best" if fit is best else "")
    )
  print(
    "  AIC counts all 2 p - 1 rates. 'there': starts that ended at this "
    "log-likelihood."
  )


def print_fit(fit: ph.inference.Fit) -> None:
  p = fit.distribution.num_phases
  print(f"\n  {p} phase{'s' if p > 1 else ''}, rates per day")
  print(f"  {'':20s}{'rate':>10s}{'std. error':>12s}{'95% interval':>20s}")
  for name, rate, error, status in zip(
    coxian.names(p),
    coxian.rates_of(fit.distribution),
    np.concatenate(list(fit.standard_errors.values())),
    fit.statuses.values(),
    strict=True,
  ):
    if np.isfinite(error):
      low, high = rate * np.exp(1.96 * error / rate * np.array([-1, 1]))
      said = f"{error:12.5f}{f'{low:.4f} .. {high:.4f}':>20s}"
    else:
      said = f"    {status}"
    print(f"  {name:20s}{rate:10.5f}{said}")
  known = fit.uncertainty
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


def print_censored(fit: ph.inference.Fit, times: np.ndarray) -> None:
  """Prints a fit to times of which the long ones are right-censored."""
  seen = times <= _LOOKED_FOR
  data = ph.inference.Observations.right_censored(
    np.minimum(times, _LOOKED_FOR), seen
  )
  censored = ph.inference.fit_mle(fit.distribution, data)
  print(
    f"  {np.sum(~seen)} of {len(times)} strikes are then known only to last "
    f"longer. 2 phases:\n  {'':16s}{'all seen':>20s}{'censored':>20s}"
  )
  rows: list[tuple[str, str, tuple[float, ...]]] = [
    ("mean (days)", "mean", ()),
    ("median (days)", "quantile", (0.5,)),
    ("P(T > 60)", "survival_function", (60.0,)),
  ]
  for name, method, arguments in rows:
    shown = [
      f"{float(getattr(one.distribution, method)(*arguments)):.4g} +- "
      f"{float(one.standard_error_of(method, *arguments)):.2g}"
      for one in (fit, censored)
    ]
    print(f"  {name:16s}{shown[0]:>20s}{shown[1]:>20s}")


def equal_totals(fit: ph.inference.Fit) -> list[list[int]]:
  """Returns groups of phases, counted from 1, with the same total rate."""
  p = fit.distribution.num_phases
  rates = coxian.rates_of(fit.distribution)
  total = np.append(rates[: p - 1], 0.0) + rates[p - 1 :]
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
  fits: list[ph.inference.Fit] = []
  for p in range(1, 5):
    smaller = fits[-1] if fits else None
    fits.append(fitting.fit(times, p, num_random, rng, smaller))
  best = min(fits, key=lambda f: f.aic)
  print_aic(fits, best)

  step("Standard errors from the exact Hessian of the log-likelihood")
  print(
    "  Intervals are made for the log-rates. A direction is flat if its "
    "eigenvalue, of the\n  information or of the sum of the scores' outer "
    "products, of unit diagonal, is\n  nothing next to the largest; a parameter "
    "with a share in it is 'not identified'. 'On the boundary (zero)':\n  the log-likelihood "
    "falls as the rate leaves 0."
  )
  for fit in fits:
    print_fit(fit)

  step(f"The same strikes, had one looked for {_LOOKED_FOR:g} days only")
  print_censored(fits[1], times)

  step("Log-likelihood and gradient of the 3-phase fit, three ways")
  model = tuple(
    np.asarray(a)
    for a in coxian.arrays(jnp.asarray(coxian.rates_of(fits[2].distribution)))
  )
  alike = same_bits.compare(model, times)

  step(f"Recovery: 3 phases fitted to {num_simulated} simulated times")
  simulated = recovery.simulate(num_simulated, seed)
  fit = fitting.fit(simulated, 3, min(num_random, 4), rng)
  recovery.compare(fit, simulated)

  step("Picture")
  picture.draw(times, fits, best, output)
  print(f"  {output}")
  step("Done")
  return alike
