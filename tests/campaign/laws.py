"""Random distributions, as expressions."""

from __future__ import annotations

from tests.campaign import draws

_ONE_TIME = (
  "MatrixWeibull",
  "MatrixGompertz",
  "MatrixPareto",
  "MatrixLogNormal",
)
_MODELS = {
  "kingman": "{}",
  "birth_death": "2, {}",
  "busy_period": "{}",
  "machine_repair": "{}",
  "tandem_queue": "{}",
}


class Laws:
  """Draws distributions that are valid.

  `discrete_law` and `continuous_law` draw of all classes; their compositions have
  at most `depth` floors.
  """

  def __init__(self, draw: draws.Draw) -> None:
    self.draw = draw

  def law(self) -> str:
    """Draws a univariate distribution."""
    if self.draw.is_likely(0.2):
      return self.discrete_law()
    return self.continuous_law()

  def continuous_law(self, depth: int = 3) -> str:
    """Draws a distribution of a positive time."""
    if self.draw.is_likely(0.6):
      return self.phase_law(depth)
    return self.draw.call(
      lambda: self.transformed(depth - 1),
      lambda: self.truncated(depth - 1),
      self.epochs,
    )

  def phase_law(self, depth: int = 3) -> str:
    """Draws a continuous distribution of phase type."""
    if depth == 0 or self.draw.is_likely(0.5):
      return self.plain()
    return self.draw.call(
      self.graph,
      lambda: self.closure(depth - 1),
      lambda: self.wrapped(depth - 1),
    )

  def discrete_law(self) -> str:
    """Draws a distribution of a number of steps."""
    draw = self.draw
    count = draw.size()
    return draw.call(
      lambda: f"pd.GeometricMixture({draw.probs(2)}, {self._success(2)})",
      lambda: f"pd.NegativeBinomialTrials({draw.size(4)}, {self._success()})",
      lambda: f"pd.NegativeBinomialFailures({draw.size(4)}, {self._success()})",
      lambda: (
        f"pd.DiscretePhaseType({draw.probs(count)}, objects.steps({count}, "
        f"{draw.integer(0, 99)}))"
      ),
    )

  def plain(self) -> str:
    """Draws a continuous distribution with parameters of its own alone."""
    draw = self.draw
    return draw.call(
      self.general,
      self.phases,
      lambda: f"pd.Erlang({draw.size(9)}, {draw.rate()})",
      lambda: f"pd.Hypoexponential({draw.array(draw.rates(draw.size()))})",
      lambda: self._of_two("Hyperexponential"),
      lambda: self._of_two("AcyclicPhaseType"),
      self._hyper_erlang,
      self._coxian,
      self._batch,
    )

  def general(self) -> str:
    """Draws a PhaseType of any chain of up to `most` phases."""
    draw = self.draw
    count = draw.one_of((1, 2, 3, 5, 12, draw.most))
    matrix = f"objects.chain({count}, {draw.integer(0, 9999)})"
    start = draw.probs(count)
    if draw.is_likely(0.2):
      half = f"0.5 * np.asarray({start})"
      return f"pd.PhaseType({half}, {matrix}, prob_zero=0.5)"
    if draw.is_likely(0.1):
      return f"pd.PhaseType({start}, {draw.rate()} * {matrix})"
    return f"pd.PhaseType({start}, {matrix})"

  def phases(self) -> str:
    """Draws a PhaseType of all rates, with traps and phases nobody reaches."""
    draw = self.draw
    count = draw.size(4)
    rows = [draw.rates(count, zeros=0.5) for _ in range(count)]
    matrix = f"np.asarray([{', '.join(rows)}]) * (1.0 - np.eye({count}))"
    exits = draw.rates(count, zeros=0.4)
    return f"pd.PhaseType({draw.probs(count)}, {matrix}, exit_rates={exits})"

  def transformed(self, depth: int) -> str:
    """Draws a law of a transformed time."""
    draw, base = self.draw, self.phase_law(depth)
    if draw.is_likely(0.2):
      second = draw.number(0.5, 5.0)
      return f"pd.MatrixLogLogistic({base}, {draw.rate()}, {second})"
    name = draw.one_of(_ONE_TIME)
    return f"pd.{name}({base}, {draw.number(0.3, 5.0)})"

  def truncated(self, depth: int) -> str:
    """Draws a law of times in an interval."""
    draw, base = self.draw, self.phase_law(depth)
    low = draw.number(0.0, 2.0)
    high = "" if draw.is_likely(0.3) else f", {low} + {draw.number(0.1, 5.0)}"
    return f"pd.TruncatedPhaseType({base}, {low}{high})"

  def wrapped(self, depth: int) -> str:
    """Draws a residual, stationary or inflated law, which is of phase type."""
    draw, base = self.draw, self.phase_law(depth)
    return draw.call(
      lambda: f"pd.ResidualLife({base}, {draw.number(0.0, 2.0)})",
      lambda: f"pd.Equilibrium({base})",
      lambda: f"pd.ZeroInflated({base}, {draw.prob()})",
    )

  def closure(self, depth: int) -> str:
    """Draws a law of several laws."""
    draw = self.draw
    two = f"[{self._part(depth)}, {self._part(depth)}]"
    return draw.call(
      lambda: f"pd.convolution({two})",
      lambda: f"pd.mixture({draw.probs(2)}, {two})",
      lambda: f"pd.minimum({two})",
      lambda: f"pd.maximum({two})",
      lambda: (
        f"pd.order_statistic(pd.Erlang({draw.size(2)}, {draw.rate()}), 4, "
        f"{draw.integer(1, 4)})"
      ),
      lambda: (
        f"pd.random_sum(pd.NegativeBinomialTrials(2, {self._success()}), "
        f"{self._part(0)})"
      ),
    )

  def graph(self) -> str:
    """Draws a GraphPhaseType."""
    name, text = self._model()
    return (
      f"objects.of_graph(pd, pg.models.{name}({text}), {self.draw.rates(3)})"
    )

  def epochs(self) -> str:
    """Draws rates that change at times."""
    draw = self.draw
    count = draw.size(3)
    ends = sorted({float(draw.number(0.05, 5.0)) for _ in range(count)})
    parameters = ", ".join(draw.rates(3) for _ in range(len(ends) + 1))
    graph = f"pg.models.kingman({draw.integer(2, 9)})"
    return f"objects.of_epochs(pd, {graph}, [{parameters}], {ends})"

  def _model(self) -> tuple[str, str]:
    name = self.draw.one_of(tuple(_MODELS))
    return name, _MODELS[name].format(self.draw.integer(2, 7))

  def _part(self, depth: int) -> str:
    """Draws a small law for a closure, whose phases multiply."""
    draw = self.draw
    if depth > 1 and draw.is_likely(0.3):
      return self.closure(0)
    return draw.call(
      lambda: f"pd.Erlang({draw.size(3)}, {draw.number(0.2, 3.0)})",
      lambda: (
        f"pd.PhaseType({draw.probs(3)}, objects.chain(3, {draw.size(99)}))"
      ),
      lambda: f"pd.Hypoexponential({draw.rates(draw.size(3))})",
    )

  def _success(self, count: int = 0) -> str:
    numbers = [self.draw.number(0.01, 1.0) for _ in range(count)]
    return f"[{', '.join(numbers)}]" if count else self.draw.number(0.01, 1.0)

  def _of_two(self, name: str) -> str:
    count = self.draw.size()
    rates = self.draw.rates(count)
    if name == "AcyclicPhaseType":
      rates = f"sorted({rates})"
    return f"pd.{name}({self.draw.probs(count)}, {rates})"

  def _hyper_erlang(self) -> str:
    counts = (self.draw.size(4), self.draw.size(4))
    return (
      f"pd.HyperErlang({self.draw.probs(2)}, {counts}, {self.draw.rates(2)})"
    )

  def _coxian(self) -> str:
    count = self.draw.size()
    exits = self.draw.rates(count, zeros=0.3)
    if self.draw.is_likely(0.9):
      exits = f"np.maximum({exits}, np.arange({count}) == {count - 1})"
    return f"pd.Coxian({self.draw.rates(count - 1)}, {exits})"

  def _batch(self) -> str:
    count = self.draw.size(3)
    rows = ", ".join(self.draw.rates(count) for _ in range(self.draw.size(3)))
    return f"pd.Hypoexponential([{rows}])"
