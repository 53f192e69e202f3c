"""Lists the comparisons with peers."""

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
_INCUMBENT = "PyPI's phasic"
_TFP = "Gamma of TFP"
_OVERHEADS = "Overheads"

_DIVISION = (
  "The gamma's mean is one division; phasic checks the model, derives its exit "
  "rates and eliminates its phases."
)
# Why phasic may be slower, by the function that makes its call.
_REASONS = {
  "density_again": (
    "PyPI's phasic looks up densities that it has computed at the same rate and "
    "times; phasic sums them from the model's steps, which it keeps from 128 "
    "states on."
  ),
  "moments": (
    "Each call makes a distribution, which checks its arguments and derives the "
    "chain of the graph in Python before the elimination."
  ),
  "moments_by_functions": (
    "Mean and variance are two calls, each with checks in Python and an "
    "elimination; PyPI's phasic computes both moments in one."
  ),
  "mean": _DIVISION,
  "constructed_mean": _DIVISION,
  "many_quantiles": (
    "A quantile is a search: a start from a grid, and at least one step of "
    "Newton's method, which takes the density, too."
  ),
  "loop": "The loop calls the native op through `PhaseType.log_prob`.",
  "compilation_of_quantile": (
    "A quantile is a larger program than a log density."
  ),
  "compilation_of_quantile_gradient": (
    "The program differentiates implicitly, by array code around calls for the "
    "density and the distribution function at the quantile."
  ),
  "compilation_of_sample": (
    "The program draws random numbers and computes their quantiles."
  ),
  "compilation_of_sample_gradient": (
    "The program draws random numbers and differentiates their quantiles "
    "implicitly."
  ),
}


def sections() -> Iterator[comparisons.Section]:
  """Yields all that is compared."""
  phasic, in_jax, in_tf = "rows_phasic", "rows_phasic_jax", "rows_phasic_tf"
  incumbent = ("rows_incumbent", "incumbent")
  yield _section(_INCUMBENT, phasic, *incumbent, _incumbent())
  yield _section(f"{_INCUMBENT}, in JAX", in_jax, *incumbent, _incumbent_jax())
  yield from genealogy_cases.sections()
  yield _section("SciPy", phasic, "rows_scipy", "", _scipy())
  yield _section("TensorFlow Probability", in_tf, "rows_tfp", "", _tfp())
  yield _section("JAX and JAXbind", in_jax, "rows_jax", "", _jax())
  yield _section(_OVERHEADS, phasic, phasic, "", _quantiles())
  yield _section(_OVERHEADS, in_tf, in_tf, "", _native_op())
  yield _section(_OVERHEADS, in_jax, in_jax, "", _compilation())


def _section(
  title: str,
  rows: str,
  peer_rows: str,
  environment: str,
  cases: Iterator[comparisons.Case],
) -> comparisons.Section:
  """Returns a section of cases with the reasons of their rows."""
  with_reasons = [
    case._replace(reason=_REASONS.get(case.row, "")) for case in cases
  ]
  return comparisons.Section(title, rows, peer_rows, environment, with_reasons)


def _incumbent() -> Iterator[comparisons.Case]:
  for lineages, states in _SIZES:
    size = {"lineages": lineages}
    at_times = {"lineages": lineages, "times": _TIMES}
    for what, row, peer_row, arguments, tolerance in (
      ("graph built", "build", "build", size, 0.0),
      ("density at 100 times", "density", "density", at_times, 1e-2),
      (
        *("the same again, same rate", "density_again", "density_again"),
        *(at_times, 1e-2),
      ),
      ("cdf at 100 times", "cdf", "cdf", at_times, 1e-2),
      ("mean and variance", "moments", "moments", size, 1e-9),
      (
        *("mean and variance, by functions", "moments_by_functions", "moments"),
        *(size, 1e-9),
      ),
      # Of 20,000 samples: over five standard errors.
      ("1,000 samples", "samples", "samples", size, 0.03),
    ):
      yield comparisons.Case(
        f"{states} states: {what}",
        _INCUMBENT,
        row,
        peer_row,
        arguments,
        tolerance,
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
        f"{_INCUMBENT} in JAX",
        row,
        row,
        arguments,
        tolerance,
      )


def _scipy() -> Iterator[comparisons.Case]:
  for what, row, arguments in (
    ("log density at 10 times", "small_log_prob", {"times": _TEN_TIMES}),
    ("mean", "small_mean", {}),
    ("a quantile", "small_quantile", {}),
  ):
    yield comparisons.Case(
      f"NumPy, constructed: {what}",
      "frozen gamma of SciPy",
      row,
      row,
      arguments,
    )
  for lineages, states in _SIZES:
    yield comparisons.Case(
      f"{states} states: density at 100 times",
      "one expm of SciPy",
      "density",
      "density",
      {"lineages": lineages, "times": _TIMES},
    )


def _quantiles() -> Iterator[comparisons.Case]:
  yield comparisons.Case(
    "41 states: 10,000 quantiles",
    "10,000 cdf values",
    "many_quantiles",
    "many_cdf_values",
    {"lineages": 10, "count": 10_000},
  )


def _tfp() -> Iterator[comparisons.Case]:
  for form, prefix in (("eager", ""), ("constructed", "constructed_")):
    for what, row, arguments in (
      ("log density at 10 times", "log_prob", {"times": _TEN_TIMES}),
      ("mean", "mean", {}),
    ):
      yield comparisons.Case(
        f"TensorFlow, {form}: {what}",
        _TFP,
        prefix + row,
        prefix + row,
        arguments,
      )


def _native_op() -> Iterator[comparisons.Case]:
  yield comparisons.Case(
    "TensorFlow, tf.function: loop of 100 log densities",
    "the native op without phasic",
    "loop",
    "loop_of_op",
    {"times": _TEN_TIMES, "calls": 100},
  )


def _jax() -> Iterator[comparisons.Case]:
  yield comparisons.Case(
    "JAX, eager: log density at 10 times",
    "jax.scipy.stats.gamma",
    "log_prob",
    "log_prob",
    {"times": _TEN_TIMES},
  )
  for what, row in (
    ("JAX: loop of 10,000 bound calls", "bound_loop"),
    ("JAX: loop of 10,000 gradients of bound calls", "bound_gradient_loop"),
  ):
    yield comparisons.Case(
      what, "JAXbind", row, row, {"calls": 10_000, "size": 4}
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
      "compilation of a log density",
      f"compilation_of_{function}",
      "compilation_of_log_prob",
      {},
    )
