"""Lists the comparisons with peers, and the bounds on their ratios."""

from collections.abc import Iterator

from benchmarks.peers import comparisons
from benchmarks.peers import genealogy_cases

_TIMES = [0.06 * k for k in range(1, 101)]
# The incumbent's densities have few digits at the smallest times, and their
# logarithms fewer.
_LATER_TIMES = [0.6 + 0.06 * k for k in range(100)]
_TEN_TIMES = [0.25 * k for k in range(1, 11)]
# (lineages, states) of the block-counting process.
_SIZES = ((10, 41), (20, 626))


def sections() -> Iterator[comparisons.Section]:
  """Yields all that is compared."""
  yield comparisons.Section(
    "rows_phasic", "rows_incumbent", "incumbent", list(_incumbent())
  )
  yield comparisons.Section(
    "rows_phasic_jax", "rows_incumbent", "incumbent", list(_incumbent_jax())
  )
  yield from genealogy_cases.sections()
  yield comparisons.Section("rows_phasic", "rows_scipy", "", list(_scipy()))
  yield comparisons.Section("rows_phasic", "rows_phasic", "", [_quantiles()])
  yield comparisons.Section("rows_phasic_tf", "rows_tfp", "", list(_tfp()))
  yield comparisons.Section(
    "rows_phasic_tf", "rows_phasic_tf", "", [_native_op()]
  )
  yield comparisons.Section("rows_phasic_jax", "rows_jax", "", list(_jax()))
  yield comparisons.Section(
    "rows_phasic_jax", "rows_phasic_jax", "", list(_compilation())
  )


def _incumbent() -> Iterator[comparisons.Case]:
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
      yield comparisons.Case(
        f"{states} states: {what}",
        "incumbent",
        row,
        peer_row,
        arguments,
        usual,
        short,
        tolerance,
      )
    yield comparisons.Case(
      f"{states} states: 1,000 samples",
      "incumbent",
      "samples",
      "samples",
      size,
      (0.6, 0.3) if lineages == 10 else (1.0, 0.5),
      # Of 20,000 samples: over five standard errors.
      tolerance=0.03,
    )


def _incumbent_jax() -> Iterator[comparisons.Case]:
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
      yield comparisons.Case(
        f"{states} states: {what}",
        "incumbent in JAX",
        row,
        row,
        arguments,
        (1.0, 0.33),
        tolerance=tolerance,
      )


def _scipy() -> Iterator[comparisons.Case]:
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
    yield comparisons.Case(
      f"NumPy, constructed: {what}",
      "frozen gamma of SciPy",
      row,
      row,
      arguments,
      bounds,
    )
  for lineages, states in _SIZES:
    yield comparisons.Case(
      f"{states} states: density at 100 times",
      "one expm of SciPy",
      "density",
      "density",
      {"lineages": lineages, "times": _TIMES},
      None,
    )


def _quantiles() -> comparisons.Case:
  return comparisons.Case(
    "41 states: 10,000 quantiles",
    "phasic, 10,000 cdf values",
    "many_quantiles",
    "many_cdf_values",
    {"lineages": 10, "count": 10_000},
    (4.0, 2.5),
  )


def _tfp() -> Iterator[comparisons.Case]:
  for form, prefix, bounds in (
    ("eager", "", (1.0, 0.5)),
    ("constructed", "constructed_", (1.2, 0.7)),
  ):
    for what, row, arguments in (
      ("log density at 10 times", "log_prob", {"times": _TEN_TIMES}),
      ("mean", "mean", {}),
    ):
      yield comparisons.Case(
        f"TensorFlow, {form}: {what}",
        "Gamma of TFP",
        prefix + row,
        prefix + row,
        arguments,
        bounds,
      )


def _native_op() -> comparisons.Case:
  return comparisons.Case(
    "TensorFlow, tf.function: loop of 100 log densities",
    "phasic's bare op",
    "loop",
    "loop_of_op",
    {"times": _TEN_TIMES, "calls": 100},
    (2.0, 1.3),
  )


def _jax() -> Iterator[comparisons.Case]:
  yield comparisons.Case(
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
    yield comparisons.Case(
      what, "JAXbind", row, row, {"calls": 10_000, "size": 4}, None
    )


def _compilation() -> Iterator[comparisons.Case]:
  for what, function in (
    ("quantile", "quantile"),
    ("gradient of quantile", "quantile_gradient"),
    ("sample", "sample"),
    ("gradient of sample", "sample_gradient"),
  ):
    yield comparisons.Case(
      f"JAX: compilation of {what}",
      "compilation of log_prob",
      f"compilation_of_{function}",
      "compilation_of_log_prob",
      {},
      (4.0, 2.0),
    )
