"""Lists the comparisons with peers, and the bounds on their ratios."""

from collections.abc import Iterator
from typing import Any, NamedTuple

_TIMES = [0.06 * k for k in range(1, 101)]
# The incumbent's densities have few digits at the smallest times, and their
# logarithms fewer.
_LATER_TIMES = [0.6 + 0.06 * k for k in range(100)]
_TEN_TIMES = [0.25 * k for k in range(1, 11)]
# (lineages, states) of the block-counting process.
_SIZES = ((10, 41), (20, 626))
# A peer's call that takes less is short.
SHORT = 200e-6

Bounds = tuple[float, float]


class Case(NamedTuple):
  """One row of the table.

  Attributes:
    what: is computed.
    peer: what phasic is compared with.
    row: the function that makes phasic's call.
    peer_row: the function that makes the peer's call.
    arguments: of both functions.
    bounds: the ratio that is asked for and the goal, each a most; None where
      nothing is asked for.
    short_bounds: the same where the peer's call takes less than `SHORT`, if
      that is different.
    tolerance: how far values may differ, relative to the largest one.
  """

  what: str
  peer: str
  row: str
  peer_row: str
  arguments: dict[str, Any]
  bounds: Bounds | None
  short_bounds: Bounds | None = None
  tolerance: float = 1e-9

  def bounds_for(self, seconds: float) -> Bounds | None:
    """Returns the bounds where the peer's call takes so many seconds."""
    if self.short_bounds is not None and seconds < SHORT:
      return self.short_bounds
    return self.bounds


class Section(NamedTuple):
  """Cases that the same two processes compute.

  Attributes:
    rows: the file of phasic's rows.
    peer_rows: the file of the peer's rows.
    environment: the peer's environment, "" for phasic's own.
    cases: the rows of the table.
  """

  rows: str
  peer_rows: str
  environment: str
  cases: list[Case]


def sections() -> Iterator[Section]:
  """Yields all that is compared."""
  yield Section(
    "rows_phasic", "rows_incumbent", "incumbent", list(_incumbent())
  )
  yield Section(
    "rows_phasic_jax", "rows_incumbent", "incumbent", list(_incumbent_jax())
  )
  yield Section("rows_phasic", "rows_phasegen", "phasegen", list(_phasegen()))
  yield Section("rows_phasic", "rows_scipy", "", list(_scipy()))
  yield Section("rows_phasic", "rows_phasic", "", [_quantiles()])
  yield Section("rows_phasic_tf", "rows_tfp", "", list(_tfp()))
  yield Section("rows_phasic_tf", "rows_phasic_tf", "", [_native_op()])
  yield Section("rows_phasic_jax", "rows_jax", "", list(_jax()))
  yield Section("rows_phasic_jax", "rows_phasic_jax", "", list(_compilation()))


def _incumbent() -> Iterator[Case]:
  usual, by_object, by_function = (1.0, 0.33), (4.0, 1.0), (1.5, 0.5)
  for lineages, states in _SIZES:
    size = {"lineages": lineages}
    at_times = {"lineages": lineages, "times": _TIMES}
    for what, row, peer_row, arguments, short, tolerance in (
      ("graph built", "build", "build", size, by_object, 0.0),
      ("density at 100 times", "density", "density", at_times, by_object, 1e-2),
      (
        "the same again, same rate",
        "density_again",
        "density_again",
        at_times,
        by_object,
        1e-2,
      ),
      ("cdf at 100 times", "cdf", "cdf", at_times, by_object, 1e-2),
      ("mean and variance", "moments", "moments", size, by_object, 1e-9),
      (
        "mean and variance, by functions",
        "moments_by_functions",
        "moments",
        size,
        by_function,
        1e-9,
      ),
    ):
      yield Case(
        f"{states} states: {what}",
        "incumbent",
        row,
        peer_row,
        arguments,
        usual,
        short,
        tolerance,
      )
    yield Case(
      f"{states} states: 1,000 samples",
      "incumbent",
      "samples",
      "samples",
      size,
      (0.6, 0.3) if lineages == 10 else (1.0, 0.5),
      # Of 20,000 samples: over five standard errors.
      tolerance=0.03,
    )


def _incumbent_jax() -> Iterator[Case]:
  for lineages, states in _SIZES:
    size = {"lineages": lineages}
    at_times = size | {"times": _TIMES}
    later = size | {"times": _LATER_TIMES}
    for what, row, arguments, tolerance in (
      ("jit, density at 100 times and moments", "jit", at_times, 1e-2),
      ("the same, vmap over 8 rates", "vmap", at_times, 1e-2),
      ("jit, grad of log likelihood and mean", "gradient", later, 0.03),
      ("jit, density at 100 times alone", "jit_density", at_times, 1e-2),
      ("jit, moments alone", "jit_moments", size, 1e-9),
    ):
      yield Case(
        f"{states} states: {what}",
        "incumbent in JAX",
        row,
        row,
        arguments,
        (1.0, 0.33),
        tolerance=tolerance,
      )


def _phasegen() -> Iterator[Case]:
  for lineages in (10, 20, 30):
    size = {"lineages": lineages}
    at_times = {"lineages": lineages, "times": _TIMES}
    covariance = "covariance of the spectrum"
    for what, row, arguments in (
      ("mean tree height", "age_mean", size),
      ("its cdf at 100 times", "age_cdf", at_times),
      ("its density at 100 times", "age_density", at_times),
      ("mean spectrum", "spectrum_mean", size),
      ("mean spectrum, graph built", "spectrum_mean_built", size),
      (covariance, "spectrum_covariance", size),
      (f"{covariance}, graph built", "spectrum_covariance_built", size),
    ):
      yield Case(
        f"{lineages} samples: {what}",
        "PhaseGen",
        row,
        row.removesuffix("_built"),
        arguments,
        (1.0, 0.33),
        # PhaseGen's matrix exponentials have fewer digits than its moments.
        tolerance=1e-7,
      )


def _scipy() -> Iterator[Case]:
  for what, row, arguments, bounds in (
    (
      "log density at 10 times",
      "small_log_prob",
      {"times": _TEN_TIMES},
      (0.2, 0.1),
    ),
    ("mean", "small_mean", {}, (0.3, 0.15)),
    ("a quantile", "small_quantile", {}, (0.7, 0.3)),
  ):
    yield Case(
      f"NumPy, constructed: {what}",
      "frozen gamma of SciPy",
      row,
      row,
      arguments,
      bounds,
    )
  for lineages, states in _SIZES:
    yield Case(
      f"{states} states: density at 100 times",
      "one expm of SciPy",
      "density",
      "density",
      {"lineages": lineages, "times": _TIMES},
      None,
    )


def _quantiles() -> Case:
  return Case(
    "41 states: 10,000 quantiles",
    "phasic, 10,000 cdf values",
    "many_quantiles",
    "many_cdf_values",
    {"lineages": 10, "count": 10_000},
    (4.0, 2.5),
  )


def _tfp() -> Iterator[Case]:
  for form, prefix, bounds in (
    ("eager", "", (1.0, 0.5)),
    ("constructed", "constructed_", (1.2, 0.7)),
  ):
    for what, row, arguments in (
      ("log density at 10 times", "log_prob", {"times": _TEN_TIMES}),
      ("mean", "mean", {}),
    ):
      yield Case(
        f"TensorFlow, {form}: {what}",
        "Gamma of TFP",
        prefix + row,
        prefix + row,
        arguments,
        bounds,
      )


def _native_op() -> Case:
  return Case(
    "TensorFlow, tf.function: loop of 100 log densities",
    "phasic's bare op",
    "loop",
    "loop_of_op",
    {"times": _TEN_TIMES, "calls": 100},
    (2.0, 1.3),
  )


def _jax() -> Iterator[Case]:
  yield Case(
    "JAX, eager: log density at 10 times",
    "jax.scipy.stats.gamma",
    "log_prob",
    "log_prob",
    {"times": _TEN_TIMES},
    (1.5, 0.7),
  )
  for what, row in (
    ("JAX: loop of 10,000 bound calls", "bound_loop"),
    ("JAX: loop of 10,000 gradients of bound calls", "bound_gradient_loop"),
  ):
    yield Case(what, "JAXbind", row, row, {"calls": 10_000, "size": 4}, None)


def _compilation() -> Iterator[Case]:
  for what, function in (
    ("quantile", "quantile"),
    ("gradient of quantile", "quantile_gradient"),
    ("sample", "sample"),
    ("gradient of sample", "sample_gradient"),
  ):
    yield Case(
      f"JAX: compilation of {what}",
      "compilation of log_prob",
      f"compilation_of_{function}",
      "compilation_of_log_prob",
      {},
      (4.0, 2.0),
    )
