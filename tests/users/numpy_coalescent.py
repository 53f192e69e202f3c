"""The age of a common ancestor, from a graph."""

from collections.abc import Iterator

from phasic.substrates import numpy as ph

graphs = ph.graphs


def mergers(lineages: int) -> Iterator[tuple[object, dict[str, float]]]:
  """Yields the states after a merger of two lineages, and rates."""
  after: object = lineages - 1 if lineages > 2 else graphs.ABSORBED
  yield after, {"coal": lineages * (lineages - 1) / 2}


def main() -> dict[str, float]:
  """Returns the mean age for four lineages, and of a sample of two epochs."""
  graph = graphs.Graph.from_transitions(mergers, 4, params=("coal",))
  age = ph.distributions.PhaseType.from_graph(graph, {"coal": 2.0})
  changed = ph.distributions.Epochs(
    graph, [{"coal": 2.0}, {"coal": 1.0}], [0.5]
  )
  ready = graphs.models.kingman(4)
  assert ready.num_phases == graph.num_phases == 3
  return {
    "mean": float(age.mean()),
    "before": float(age.cdf(0.5)),
    "changed": float(changed.cdf(0.5)),
  }


if __name__ == "__main__":
  print(main())
