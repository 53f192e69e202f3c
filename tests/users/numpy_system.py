"""A system of parts: sums, extremes, mixtures and what they wrap."""

from phasic.substrates import numpy as ph

pd = ph.distributions


def system(parts: list[pd.Erlang]) -> pd.Distribution:
  """Returns the lifetime of parts in parallel."""
  return pd.maximum(parts)


def main() -> dict[str, float]:
  """Returns means of lifetimes."""
  parts = [pd.Erlang(1, 1.0), pd.Erlang(1, 2.0)]
  parallel = system(parts)
  series = pd.minimum(parts)
  both = pd.convolution(parts)
  dead = pd.ZeroInflated(pd.Erlang(1, 2.0), 0.25)
  old = pd.ResidualLife(pd.Erlang(1, 2.0), 3.0)
  return {
    "parallel": float(parallel.mean()),
    "series": float(series.mean()),
    "both": float(both.mean()),
    "dead": float(dead.mean()),
    "old": float(old.mean()),
    "hazard": float(pd.Coxian([2.0], [1.0, 0.5]).hazard_function(1e-30)),
  }


if __name__ == "__main__":
  print(main())
