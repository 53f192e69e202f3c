"""The bootstrap of a fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent import futures

import numpy as onp

from phasic.distributions.base.distribution import DistributionT
from phasic.inference.parameters.host_values import whole_number
from phasic.inference.resampling import refits
from phasic.inference.resampling import resampled_fits
from phasic.inference.resampling import resamples
from phasic.inference.results import estimates
from phasic.inference.results import fits
from phasic.inference.results import model_fits
from phasic.internal import progress_bars
from phasic.internal import raw_arguments
from phasic.internal import user_warnings
from phasic.internal.arrays import ArrayLike, Integer

# How many resamples one task of an executor fits.
_PER_TASK = 10


def bootstrap(
  fit: fits.Fit[DistributionT] | model_fits.ModelFit,
  num_resamples: Integer = 200,
  *,
  seed: Integer = 0,
  method: str = "cases",
  clusters: ArrayLike | None = None,
  executor: futures.Executor | None = None,
  progress: bool | Callable[[int], object] = False,
) -> resampled_fits.Bootstrap:
  """Fits the distribution of a fit again, to resamples of its observations.

  With method "cases" observations are drawn with replacement. If all weights are
  whole numbers they are counts: as many are drawn as the weights sum to, each
  with a probability proportional to its weight. Otherwise as many rows are drawn
  as have a positive weight, all with the same probability, and keep their
  weights. With `clusters` whole clusters are drawn, as many as there are, and all
  their observations keep their weights.

  With method "parametric" there are as many new observations as there were, and
  of the same times of entry: values of the fitted distribution, conditional on
  being after the entry. If there are right-censored observations, each of them
  keeps its censoring time. The censoring time of an observation with an event is
  drawn from the Kaplan-Meier estimate of the censoring times, conditional on
  being at or after the event; it is infinite where the estimate ends. The new
  observation is the earlier one of the new value and the censoring time. With
  causes of absorption, the cause of an event is drawn given its time.

  Each fit is `fit_mle` with the options of `fit`, and starts from the fit alone.
  An entry that is zero in the fit may be positive in a resample, and the other way
  round. Resample i depends on the seed and i alone, and so do all results; with
  another number of resamples, the first ones are the same.

  Args:
    fit: the fit, which has converged.
    num_resamples: the number of resamples, at least 2. Some 200 suffice for
      standard errors; intervals need 1000 or more.
    seed: of the random numbers, an int >= 0.
    method: "cases" or "parametric".
    clusters: (n,), a label of each observation, such as a patient's number, on
      the host; None for independent observations.
    executor: runs the fits, in tasks of ten, by its method `submit`: a
      `concurrent.futures.Executor`, or anything with its interface; None for
      this thread. JAX and TensorFlow do not survive a fork, so processes must be
      spawned: `ProcessPoolExecutor(4, mp_context=get_context("spawn"))` with
      `multiprocessing.get_context`. They have settings of their own, such as
      those in `os.environ`.
    progress: True for a progress bar, which needs tqdm; or a function of the
      number of resamples that are done.

  Raises:
    ImportError: SciPy is missing, or statsmodels with parametric resamples of
      censored observations, or tqdm.
    RuntimeError: more than half of the resamples have no fit, or a process of the
      executor has other settings of floating-point numbers.
    TypeError: an argument has a wrong type.
    ValueError: `fit` has not converged or no fitted entry, an argument breaks a
      rule, or observations cannot be resampled: parametric resamples need exact
      or right-censored ones.

  Warns:
    RuntimeWarning: fits to some resamples failed or did not converge; they are
      left out.

  Example: the median of exponential times, of which two are censored.

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> times, observed = [0.2, 0.5, 0.9, 1.0, 1.4, 2.0], [1, 1, 0, 1, 1, 0]
    >>> data = inference.Observations.right_censored(times, observed)
    >>> fit = inference.fit_mle(Erlang(1, 1.0), data)
    >>> result = inference.bootstrap(fit, 20, method="parametric")
    >>> interval = result.confidence_interval(
    ...   "quantile", 0.5, confidence_level=0.9
    ... )
    >>> print(f"{interval.estimate:.4f}")
    1.0397
    >>> bool(interval.low < interval.estimate < interval.high)
    True

  References:
    A. C. Davison, D. V. Hinkley, Bootstrap methods and their application, 1997,
      ch. 2.2, 2.4, 3.5.
    B. Efron, Censored data and the bootstrap, J. Amer. Statist. Assoc. 76, 1981.
  """
  num_resamples = whole_number("num_resamples", num_resamples, 2)
  seed = whole_number("seed", seed, 0, most=2**128 - 1)
  _check_fit(fit)
  codes = resamples.check(fit, method, clusters)
  if executor is not None and not callable(getattr(executor, "submit", None)):
    raise TypeError(
      f"executor is {raw_arguments.shown(executor)}: it must be an executor of "
      "concurrent.futures, or have its method submit; None for this thread"
    )
  plan = refits.Plan(fit, method, seed, codes, estimates.form_of(fit).dtype)
  size = 1 if executor is None else _PER_TASK
  parts = [
    range(first, min(first + size, num_resamples))
    for first in range(0, num_resamples, size)
  ]
  rows: list[onp.ndarray] = []
  messages: dict[int, str] = {}
  with progress_bars.reporting(
    progress, "the number of resamples", desc="resamples", total=num_resamples
  ) as report:
    for entries, reasons in refits.results(plan, parts, executor):
      rows.extend(entries)
      messages |= reasons
      if report is not None:
        report(len(rows))
  _judge(messages, num_resamples)
  matrix = onp.stack(rows)
  matrix.setflags(write=False)
  names = estimates.form_of(fit).names
  return resampled_fits.Bootstrap(fit, method, seed, names, matrix, messages)


def _check_fit(fit: object) -> None:
  """Raises unless the argument is a fit at a maximum that has entries."""
  if not isinstance(fit, estimates.Estimates):
    raise TypeError(
      f"fit is {type(fit).__name__}: it must be a Fit or ModelFit, from fit_mle or "
      "fit_em"
    )
  if not estimates.form_of(fit).names:
    raise ValueError(
      "fit has no fitted entries: there must be at least one, else all resamples "
      "have the same distribution"
    )
  if not fit.record.converged:
    raise ValueError(
      "fit did not converge: it must be at a maximum, from which resamples "
      "differ; fit again from its distribution with fit_mle, with more steps"
    )


def _judge(messages: Mapping[int, str], num_resamples: int) -> None:
  """Warns if some resamples have no fit, raises if most have none."""
  if not messages:
    return
  i, reason = next(iter(messages.items()))
  said = (
    f"{len(messages)} of {num_resamples} resamples have no fit; the first is "
    f"resample {i}: {reason}"
  )
  if 2 * len(messages) > num_resamples:
    raise RuntimeError(
      f"{said}. A bootstrap needs a fit of most: fit fewer parameters, or fix "
      "or tie some"
    )
  user_warnings.warn(
    f"{said}. They are left out, which may bias intervals: see messages, and "
    "fit fewer parameters, or fix or tie some"
  )
