"""Small models of two phases, and laws of them, for tests of messages."""

from phasic import distributions as pd
from phasic import graphs as pg
from phasic import math as pm

START = (1.0, 0.0)
MATRIX = ((-2.0, 1.0), (0.0, -1.0))
EDGES = pm.EdgeRates([0, 0, 1], [1, 2, 2], [1.0, 1.0, 1.0])
# A matrix whose only exit, 2.2e-16, counts as a rounding error.
CLOSED = ((-1.0, 1.0), (1.0, -1.0 - 2.0**-52))
STEPS = ((0.5, 0.25), (0.0, 0.5))


def line(discrete=False):
  """Builds a graph of two phases, with weights a and b."""
  edges = [(0, 1, {"a": 1.0}), (1, pg.ABSORBED, {"b": 1.0})]
  return pg.Graph.from_edges(edges, 0, params=("a", "b"), discrete=discrete)


def erlang():
  return pd.Erlang(2, 1.0)
