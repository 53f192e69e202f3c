"""Every function of `ph.graphs`, all methods of `Graph`, all ready models."""

from collections.abc import Callable
import inspect
from typing import Any

from absl.testing import absltest
from absl.testing import parameterized
import matplotlib as mpl
import numpy as onp

from tests.cross import comparisons
from tests.cross import public_distributions_cases as distributions_cases

mpl.use("Agg")

Call = Callable[[distributions_cases.Substrate], Any]


def _queue(x: Any) -> tuple[Any, Any]:
  params = {"arrival": x.array(1.0), "service": x.array(2.0)}
  return x.graphs.models.busy_period(2), params


def _in_both_orders(x: Any) -> list[Any]:
  """Builds a graph of two equivalent states, and lumps it by name."""
  edges = [
    ("start", "left", 1.0),
    ("start", "right", 1.0),
    ("left", x.graphs.ABSORBED, 2.0),
    ("right", x.graphs.ABSORBED, 2.0),
  ]
  graph = x.graphs.Graph.from_edges(edges, "start")
  return [x.graphs.lump(graph), x.graphs.lump(graph, ["a", "b", "b"])]


def _weather(x: Any) -> tuple[Any, Any]:
  """Builds a graph without absorption, and its parameters."""
  edges = [("sun", "rain", {"rain": 1.0}), ("rain", "sun", 4.0)]
  graph = x.graphs.Graph.from_edges(
    edges, "sun", ("rain",), allow_never_absorbing=True
  )
  return graph, {"rain": x.array(1.0)}


FUNCTIONS: dict[str, Call] = {
  "availability": lambda x: x.graphs.availability(
    _weather(x)[0], ["sun"], _weather(x)[1]
  ),
  "long_run_reward_rate": lambda x: x.graphs.long_run_reward_rate(
    _weather(x)[0], x.array([1.0, 0.5]), _weather(x)[1]
  ),
  "stationary_distribution": lambda x: x.graphs.stationary_distribution(
    *_weather(x)
  ),
  "with_event_counts": lambda x: x.graphs.with_event_counts(
    x.graphs.models.kingman(3), 2.0, params={"coalescence": x.array(1.0)}
  ),
  "log_prob_and_moments": lambda x: x.graphs.log_prob_and_moments(
    x.machine(), {"wear": x.array(0.5)}, x.array([0.5, 2.0])
  ),
  "lump": _in_both_orders,
  "embedded_jump_chain": lambda x: x.graphs.embedded_jump_chain(*_queue(x)),
  "reverse": lambda x: x.graphs.reverse(*_queue(x)),
  "strongly_connected_components": lambda x: (
    x.graphs.strongly_connected_components(x.machine())
  ),
  "first_passage_time": lambda x: x.graphs.first_passage_time(
    _queue(x)[0], [2]
  ),
}
STRUCTURES: dict[str, Call] = {
  "ABSORBED": lambda x: repr(x.graphs.ABSORBED),
  "Absorbed": lambda x: repr(x.graphs.Absorbed("scrap")),
  "Edge": lambda x: x.graphs.Edge("a", "b", 1.0, (2.0,)),
  "Event": lambda x: repr(x.graphs.Event("a")),
  "EventChain": lambda x: x.graphs.EventChain(x.machine(), onp.ones(2)),
  "JumpChain": lambda x: x.graphs.JumpChain(x.machine(), onp.ones(2)),
  "Lumped": lambda x: x.graphs.Lumped(
    x.machine(), onp.asarray([0, 1]), onp.asarray([0, 1])
  ),
}
MODELS: dict[str, Call] = {
  "beta_rates": lambda x: x.graphs.models.beta_rates(
    x.graphs.models.lambda_coalescent(3), 1.5
  ),
  "birth_death": lambda x: x.graphs.models.birth_death(2, maximum=3),
  "block_counting": lambda x: x.graphs.models.block_counting(3),
  "busy_period": lambda x: x.graphs.models.busy_period(2),
  "folded_spectrum": lambda x: x.graphs.models.folded_spectrum(
    x.array([2.0, 1.0, 0.5])
  ),
  "illness_death": lambda x: x.graphs.models.illness_death(),
  "island_coalescent": lambda x: x.graphs.models.island_coalescent([2, 0]),
  "isolation_with_migration": lambda x: (
    (found := x.graphs.models.isolation_with_migration([2, 1]))[:2],
    found[2]((2, 1)),
  ),
  "joint_block_counting": lambda x: x.graphs.models.joint_block_counting(
    [1, 1]
  ),
  "joint_spectrum_rewards": lambda x: x.graphs.models.joint_spectrum_rewards(
    x.graphs.models.joint_block_counting([1, 1])
  ),
  "kingman": lambda x: x.graphs.models.kingman(3),
  "kingman_spectrum": lambda x: x.graphs.models.kingman_spectrum(
    x.array([0.5, 1.0])
  ),
  "lambda_block_counting": lambda x: x.graphs.models.lambda_block_counting(3),
  "lambda_coalescent": lambda x: x.graphs.models.lambda_coalescent(3),
  "machine_repair": lambda x: x.graphs.models.machine_repair(2),
  "merge_demes": lambda x: x.graphs.models.merge_demes(2, 1)((1, 2)),
  "psi_rates": lambda x: x.graphs.models.psi_rates(
    x.graphs.models.lambda_coalescent(3), 0.5
  ),
  "spectrum_log_likelihood": lambda x: x.graphs.models.spectrum_log_likelihood(
    x.array([3.0, 1.0]), x.array([2.0, 1.0])
  ),
  "structured_coalescent": lambda x: x.graphs.models.structured_coalescent(
    [1, 1]
  ),
  "tandem_queue": lambda x: x.graphs.models.tandem_queue(1),
  "two_locus_coalescent": lambda x: x.graphs.models.two_locus_coalescent(2),
}


def _with_start(x: Any) -> Any:
  """Builds a graph whose start depends on a parameter."""
  absorbed = x.graphs.ABSORBED
  start = {0: {"q": 1.0}, absorbed: {1: 1.0, "q": -1.0}}
  return x.graphs.Graph.from_edges([(0, absorbed, 1.0)], start, params=("q",))


def _transitions(x: Any) -> Any:
  absorbed = x.graphs.ABSORBED

  def transitions(n: int) -> Any:
    yield (n - 1 if n > 2 else absorbed), {"pairs": n * (n - 1) / 2}

  return x.graphs.Graph.from_transitions(transitions, 4, params=("pairs",))


def _network(x: Any) -> Any:
  network = x.machine().to_networkx()
  again = x.graphs.Graph.from_networkx(network)
  return [again, sorted(map(repr, network.nodes)), network.number_of_edges()]


GRAPH: dict[str, Call] = {
  "content_hash": lambda x: x.machine().content_hash(),
  "describe": lambda x: x.machine().describe(),
  "edge_values": lambda x: x.machine().edge_values({"wear": x.array(0.5)}),
  "edge_weights": lambda x: x.machine().edge_weights([x.array(0.5)]),
  "from_edges": lambda x: x.machine(),
  "from_json": lambda x: x.graphs.Graph.from_json(x.coin().to_json()),
  "from_matrices": lambda x: x.graphs.Graph.from_matrices(
    x.array([0.5, 0.25]),
    x.array([[0.0, 1.0], [0.5, 0.0]]),
    x.array([0.25, 1.0]),
    x.array(0.25),
  ),
  "from_networkx": _network,
  "from_transitions": _transitions,
  "index_of": lambda x: x.machine().index_of("down"),
  "initial_probs": lambda x: _with_start(x).initial_probs([x.array(0.75)]),
  "params_array": lambda x: x.machine().params_array({"wear": x.array(0.5)}),
  "plot": lambda x: len(x.machine().plot().texts),
  "prob_zero": lambda x: _with_start(x).prob_zero([x.array(0.75)]),
  "to_json": lambda x: x.coin().to_json(),
  "to_networkx": _network,
}
TABLES = {
  "function": FUNCTIONS,
  "structure": STRUCTURES,
  "model": MODELS,
  "graph": GRAPH,
}


class PublicGraphsTest(comparisons.TestCase):
  @parameterized.parameters(*comparisons.SUBSTRATES)
  def test_all_names_are_called(self, substrate):
    graphs = comparisons.SUBSTRATES[substrate].graphs
    names = (*FUNCTIONS, *STRUCTURES, "Graph", "models")
    self.assert_complete(graphs, names, "FUNCTIONS or STRUCTURES")
    self.assert_complete(graphs.models, MODELS, "MODELS")
    methods = distributions_cases.public_methods(graphs.Graph)
    self.assertEqual(
      sorted(set(methods) - set(GRAPH)),
      [],
      "Graph has public methods that are not in GRAPH: add them",
    )

  @parameterized.parameters(
    *((kind, name) for kind, table in TABLES.items() for name in table)
  )
  def test_agrees_with_numpy(self, kind, name):
    call = TABLES[kind][name]
    expected = call(distributions_cases.Substrate("numpy"))
    for substrate in comparisons.OTHERS:
      with self.subTest(substrate):
        found = call(distributions_cases.Substrate(substrate))
        self.assert_agrees(found, expected)

  @parameterized.product(
    name=[
      name
      for name, member in inspect.getmembers(comparisons.in_numpy.graphs.Graph)
      if isinstance(member, property) and not name.startswith("_")
    ],
    substrate=comparisons.OTHERS,
  )
  def test_properties(self, name, substrate):
    found, expected = (
      getattr(distributions_cases.Substrate(x).machine(), name)
      for x in (substrate, "numpy")
    )
    self.assert_agrees(found, expected)

  def test_anchors(self):
    """Tests the reference substrate, NumPy, by closed forms."""
    x = distributions_cases.Substrate("numpy")
    chain = FUNCTIONS["embedded_jump_chain"](x)
    # With one customer an arrival precedes a service with probability 1/3.
    weights = onp.asarray(chain.graph.edge_values())
    self.assert_agrees(onp.sort(weights), onp.asarray([1, 2, 3]) / 3.0)
    coalescent = x.pd.PhaseType.from_graph(MODELS["kingman"](x), [1.0])
    self.assert_agrees(coalescent.mean(), 4 / 3)
    _, moments = FUNCTIONS["log_prob_and_moments"](x)
    mean = x.pd.PhaseType.from_graph(x.machine(), [0.5]).mean()
    self.assert_agrees(moments[0], mean)
    lumped, _ = FUNCTIONS["lump"](x)
    self.assertEqual(lumped.graph.num_phases, 2)


if __name__ == "__main__":
  absltest.main()
