"""Lists the comparisons with PhaseGen: trees and spectra of a population."""

from collections.abc import Iterator
from typing import Any

from benchmarks.peers import comparisons

_PEER = "PhaseGen"
_TIMES = [0.06 * k for k in range(1, 101)]
# PhaseGen's matrix exponentials have fewer digits than its moments.
_TOLERANCE = 1e-7
_SAMPLES = (10, 20, 30)
# Sites by the number of samples that carry the mutation. Those of 10 samples
# were observed, the others are expected ones, rounded, of a population of size 1
# that had size 0.5 before time 0.2.
_COUNTS = {
  10: [997, 441, 228, 156, 117, 114, 83, 105, 109],
  20: [
    *(1179, 512, 305, 211, 158, 126, 105, 90, 79, 71, 64, 59),
    *(54, 50, 47, 44, 41, 39, 37),
  ],
  30: [
    *(1235, 553, 336, 233, 174, 138, 113, 96, 83, 74, 66, 60),
    *(55, 51, 47, 44, 41, 39, 37, 35, 33, 32, 30, 29),
    *(28, 27, 26, 25, 24),
  ],
}


def sections() -> Iterator[comparisons.Section]:
  """Yields all that is compared with PhaseGen."""
  yield comparisons.Section(
    "PhaseGen, one population size",
    "rows_phasic",
    "rows_phasegen",
    "phasegen",
    list(_one_size()),
  )
  yield comparisons.Section(
    "PhaseGen, three epochs and fits",
    "rows_phasic_epochs",
    "rows_phasegen_epochs",
    "phasegen",
    list(_epochs()),
  )
  yield comparisons.Section(
    "PhaseGen, phasic by jit of JAX",
    "rows_phasic_jax_epochs",
    "rows_phasegen_epochs",
    "phasegen",
    list(_jax()),
  )


def _one_size() -> Iterator[comparisons.Case]:
  for lineages in _SAMPLES:
    size = {"lineages": lineages}
    at_times = size | {"times": _TIMES}
    by_blocks = "mean spectrum, both by block counts"
    covariance = "covariance of the spectrum"
    for what, row, arguments in (
      ("mean tree height", "age_mean", size),
      ("its cdf at 100 times", "age_cdf", at_times),
      ("its density at 100 times", "age_density", at_times),
      ("mean spectrum", "spectrum_mean", size),
      ("mean spectrum, graph built", "spectrum_mean_built", size),
      (by_blocks, "spectrum_mean_by_blocks", size),
      (f"{by_blocks}, graph built", "spectrum_mean_by_blocks_built", size),
      (covariance, "spectrum_covariance", size),
      (f"{covariance}, graph built", "spectrum_covariance_built", size),
    ):
      yield comparisons.Case(
        f"{lineages} samples: {what}",
        _PEER,
        row,
        row.removesuffix("_built"),
        arguments,
        _TOLERANCE,
      )


def _epochs() -> Iterator[comparisons.Case]:
  for lineages in _SAMPLES:
    size = {"lineages": lineages}
    at_times = size | {"times": _TIMES}
    for what, row, arguments in (
      ("mean tree height", "age_mean", size),
      ("its cdf at 100 times", "age_cdf", at_times),
      ("its density at 100 times", "age_density", at_times),
      ("mean spectrum", "spectrum_mean", size),
      ("covariance of the spectrum", "spectrum_covariance", size),
    ):
      # With 30 samples each of the two takes minutes.
      if row != "spectrum_covariance" or lineages < 30:
        yield _case(f"{lineages} samples, three epochs: {what}", row, arguments)
  yield from _fits("")


def _jax() -> Iterator[comparisons.Case]:
  for lineages in _SAMPLES:
    yield _case(
      f"{lineages} samples, three epochs: mean spectrum, by jit of JAX",
      "spectrum_mean",
      {"lineages": lineages},
    )
  yield from _fits(", by jit of JAX")


def _fits(how: str) -> Iterator[comparisons.Case]:
  for lineages in _SAMPLES:
    counts = {"counts": _COUNTS[lineages]}
    fit = f"{lineages} samples: fit of two epochs"
    yield _case(f"{fit}, one start{how}", "fit", counts)
    yield _case(f"{fit}, ten starts{how}", "fit_from_ten_starts", counts)


def _case(what: str, row: str, arguments: dict[str, Any]) -> comparisons.Case:
  return comparisons.Case(what, _PEER, row, row, arguments, _TOLERANCE)
