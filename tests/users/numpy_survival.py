"""A fit to censored data, with its errors."""

import numpy as np

from phasic.substrates import numpy as ph

inference = ph.inference


def fit(
  times: list[float], events: list[bool]
) -> inference.Fit[ph.distributions.Erlang]:
  """Fits an exponential distribution."""
  data = inference.Observations.right_censored(times, events)
  return inference.fit_mle(ph.distributions.Erlang(1, 1.0), data)


def main() -> dict[str, float]:
  """Returns the rate, which is events over exposure, and its error."""
  times = [0.5, 1.0, 1.5, 2.0, 3.0]
  events = [True, True, False, True, False]
  found = fit(times, events)
  rate = found.distribution.rate
  data = inference.Observations.right_censored(times, events)
  total = data.log_likelihood(found.distribution)
  assert np.isclose(float(total), float(found.log_likelihood))
  return {"rate": float(rate), "bic": float(found.bic)}


if __name__ == "__main__":
  print(main())
