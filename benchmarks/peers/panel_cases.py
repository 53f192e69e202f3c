"""Lists the comparisons of multi-state models of panel data."""

from collections.abc import Iterator

from benchmarks.peers import comparisons

_MSM, _EXPM = "R's msm", "jax.vmap of expm, compiled"
# Of the largest log likelihood: msm's optimizer stops early.
_FIT_TOLERANCE = 1e-5
_REASONS = {
  ("JAX", "fit"): (
    "Each fit compiles the likelihood, its gradient and its Hessian anew, which "
    "takes most of the time."
  )
}
_FORMS = (("NumPy", "panel/rows_phasic"), ("JAX", "panel/rows_phasic_jax"))


def sections() -> Iterator[comparisons.Section]:
  """Yields all that is compared on panel data."""
  for form, rows in _FORMS:
    yield comparisons.Section(
      f"Panel data, {form}",
      rows,
      "panel/rows_msm",
      "",
      list(_msm(form)),
    )
  yield comparisons.Section(
    "Panel data, JAX",
    "panel/rows_phasic_jax",
    "panel/rows_jax",
    "",
    list(_expm()),
  )


def _msm(form: str) -> Iterator[comparisons.Case]:
  for with_age in (False, True):
    covariates = "a covariate" if with_age else "no covariate"
    for what, row, tolerance in (
      ("model made, and its likelihood", "log_likelihood", 1e-8),
      ("value and gradient", "value_and_gradient", 1e-8),
      ("fit and standard errors", "fit", _FIT_TOLERANCE),
    ):
      yield comparisons.Case(
        f"{form}, {covariates}: {what}",
        _MSM,
        row,
        row,
        {"with_age": with_age},
        tolerance,
        _REASONS.get((form, row), ""),
      )


def _expm() -> Iterator[comparisons.Case]:
  for with_age in (False, True):
    covariates = "a covariate" if with_age else "no covariate"
    yield comparisons.Case(
      f"JAX, {covariates}: value and gradient",
      _EXPM,
      "value_and_gradient",
      "value_and_gradient",
      {"with_age": with_age},
      1e-8,
    )
