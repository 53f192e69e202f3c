"""Site frequency spectra: expected ones, and likelihoods of observed ones."""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy as onp

from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike, Result
from phasic.math.model import value_rules
from phasic.math.numeric import special

# The largest number n of expected times: a matrix of n x n numbers is built.
_MOST_TIMES = 4096


def kingman_spectrum(times: ArrayLike) -> Result:
  """Computes expected branch lengths from expected times with k lineages.

  Where pairs of lineages merge, all of them at the same rate, the number of
  samples below a branch depends only on how many lineages there are. The
  expected length of the branches above i of n samples is

      xi_i = sum_k k E[T_k] C(n - i - 1, k - 2) / C(n - 1, k - 1),

  with T_k the time while there are k lineages. Sizes may change in time, as in
  `Epochs`. These are means: given the times lengths are still random, so that
  this is not a matrix of rewards that has covariances.

  Args:
    times: E[T_k] for k = n, n - 1, ..., 2 in this order, (..., n - 1), >= 0: the
      `expected_sojourn_times` of the states of `kingman`.

  Returns:
    xi_1, ..., xi_{n-1}, (..., n - 1), in units of time. Times the rate at which
    a lineage mutates it is the expected site frequency spectrum.

  Raises:
    TypeError: the dtype is not float32 or float64.
    ValueError: `times` is a number, empty, or has more than 4096 entries.

  Example: a population of constant size, whose spectrum is proportional to 1/i.

    >>> from phasic import graphs
    >>> from phasic.distributions import PhaseType
    >>> tree = PhaseType.from_graph(graphs.models.kingman(5), [1.0])
    >>> lengths = graphs.models.kingman_spectrum(tree.expected_sojourn_times())
    >>> [f"{float(x):.4f}" for x in lengths]
    ['2.0000', '1.0000', '0.6667', '0.5000']

  References:
    R. C. Griffiths, S. Tavare, The age of a mutation in a general coalescent
      tree, Stoch. Models 14, 1998, eq. 1.5.
    A. Polanski, M. Kimmel, New explicit expressions for relative frequencies of
      SNPs with application to statistical inference on population growth,
      Genetics 165, 2003.
  """
  array = structures.as_array(times, None, "times")
  shape = static.shape(array)
  if len(shape) < 1 or shape[-1] == 0:
    raise ValueError(
      f"times has shape {shape}: it must be (..., n - 1), with the times of n, "
      "n - 1, ..., 2 lineages"
    )
  if shape[-1] > _MOST_TIMES:
    raise ValueError(
      f"times has {shape[-1]} entries: it must have at most {_MOST_TIMES}, as a "
      "square matrix of this size is built; take fewer samples"
    )
  dtype = static.dtype_name(array)
  shares = structures.constant(_shares(int(shape[-1]) + 1), dtype)
  return structures.as_result(np.matmul(array[..., None, :], shares)[..., 0, :])


@functools.lru_cache(maxsize=4)
def _shares(n: int) -> onp.ndarray:
  """Returns k C(n - i - 1, k - 2) / C(n - 1, k - 1), rows k = n, ..., 2."""
  shares = onp.zeros((n - 1, n - 1))
  for k in range(2, n + 1):
    # The first entry is k (k - 1) / (n - 1). Entry i times the ratio
    # (n - i - k + 1) / (n - i - 1) is entry i + 1. The products have more
    # digits than float64.
    i = onp.arange(1, n - k + 1, dtype=onp.longdouble)
    ratios = (n - i - k + 1) / (n - i - 1)
    row = onp.cumprod(onp.concatenate([onp.ones(1, onp.longdouble), ratios]))
    shares[n - k, : n - k + 1] = row * (k * (k - 1)) / (n - 1)
  shares.setflags(write=False)
  return shares


def folded_spectrum(spectrum: ArrayLike) -> Result:
  """Folds spectra: adds entries i and n - i, as ancestral states are unknown.

  Args:
    spectrum: entries 1, ..., n - 1, (..., n - 1), lengths or counts.

  Returns:
    Entries 1, ..., n // 2 of the minor state, (..., n // 2); the one in the
    middle of an even n is not doubled.

  Raises:
    TypeError: the dtype is not float32, float64 or an integer.
    ValueError: `spectrum` is a number or empty.

  Example:

    >>> from phasic import graphs
    >>> folded = graphs.models.folded_spectrum([2.0, 1.0, 0.5])
    >>> [float(x) for x in folded]
    [2.5, 1.0]
  """
  array = structures.as_array(spectrum, None, "spectrum")
  shape = static.shape(array)
  if len(shape) < 1 or shape[-1] == 0:
    raise ValueError(
      f"spectrum has shape {shape}: it must be (..., n - 1) for n samples"
    )
  n = int(shape[-1]) + 1
  half = onp.arange(n // 2)
  partners = n - 2 - half
  # The middle entry of an even n is its own partner.
  twice = structures.constant(
    1.0 * (half != partners), static.dtype_name(array)
  )
  minor = np.take(array, half, axis=-1)
  return structures.as_result(minor + twice * np.take(array, partners, axis=-1))


def spectrum_log_likelihood(
  counts: ArrayLike,
  lengths: ArrayLike,
  mutation_rate: ArrayLike | None = None,
) -> Result:
  """Computes the log likelihood of the counts of a site frequency spectrum.

  Without a rate the counts are multinomial, given their sum, with probabilities
  in proportion to the lengths; sites need not be independent of each other for
  their means, and the likelihood is a composite one where they are linked. With
  a rate mu they are independent Poisson numbers with means mu xi_i.

  Args:
    counts: numbers of sites c_i, (..., m), integers >= 0.
    lengths: expected branch lengths xi_i, (..., m), >= 0, e.g. from
      `kingman_spectrum`, or the mean of `MultivariateEpochs`, folded or not.
    mutation_rate: mu, (...), per lineage and unit of time; None for the
      multinomial likelihood.

  Returns:
    An array (...): -inf where a count is positive and its length is zero, NaN
    where a count is not an integer >= 0, or a length or the rate is negative.

  Raises:
    TypeError: dtypes differ.
    ValueError: the numbers of entries differ.

  Example: a population of constant size.

    >>> from phasic import graphs
    >>> value = graphs.models.spectrum_log_likelihood([2, 1], [2.0, 1.0])
    >>> print(f"{float(value):.6f}")
    -0.810930

  References:
    R. Nielsen, Estimation of population parameters and recombination rates from
      single nucleotide polymorphisms, Genetics 154, 2000.
  """
  arguments = {"lengths": lengths, "mutation_rate": mutation_rate}
  dtype = dtypes.common_dtype({"counts": counts, **arguments})
  numbers = structures.as_array(counts, dtype, "counts")
  means = structures.as_array(lengths, dtype, "lengths")
  shapes = static.shape(numbers), static.shape(means)
  if min(map(len, shapes)) < 1 or shapes[0][-1] != shapes[1][-1]:
    raise ValueError(
      f"counts has shape {shapes[0]} and lengths {shapes[1]}: both must be "
      "(..., m), with the same number of entries m"
    )
  try:
    static.broadcast_shapes(*shapes)
  except ValueError:
    raise ValueError(
      f"counts has shape {shapes[0]} and lengths {shapes[1]}: they must broadcast"
    ) from None
  owner = "spectrum_log_likelihood"
  value_rules.warn(owner, "counts", numbers, value_rules.COUNT)
  value_rules.warn(owner, "lengths", means, value_rules.LENGTH)
  good = (numbers >= 0.0) & (numbers == np.floor(numbers)) & (means >= 0.0)
  total = np.sum(numbers, axis=-1)
  known = np.where(good, numbers, 0.0)
  constant = np.sum(_log_factorial(known), axis=-1)
  valid, total_length = np.all(good, axis=-1), np.sum(means, axis=-1)
  if mutation_rate is None:
    log_factor = _log_factorial(np.where(total >= 0.0, total, 0.0))
    factor = -_log(total_length)
  else:
    rate = structures.as_array(mutation_rate, dtype, "mutation_rate")
    value_rules.warn(owner, "mutation_rate", rate, value_rules.LENGTH)
    log_factor = -total_length * rate
    valid = valid & (rate >= 0.0)
    rate = np.where(rate >= 0.0, rate, 0.0)
    factor = _log(rate)
    means = np.where(rate[..., None] == 0.0, 0.0, means)
  value = log_factor - constant + _weighted(known, means, factor[..., None])
  return structures.as_result(np.where(valid, value, math.nan))


def _weighted(counts: Array, means: Array, log_factor: Array) -> Array:
  """Computes the sum of c (log(m) + log_factor), with 0 log(0) = 0."""
  some, never = counts > 0.0, means == 0.0
  logs = _log(np.where(some, means, 1.0)) + log_factor
  finite = np.where(some, counts * logs, 0.0)
  return np.sum(np.where(some & never, -math.inf, finite), axis=-1)


def _log(x: Array) -> Array:
  """Computes log(x), zero where x is zero."""
  return np.log(np.where(x == 0.0, 1.0, x))


def _log_factorial(counts: Array) -> Array:
  """Computes log(c!) in the widest precision."""
  logs = special.log_factorial(structures.cast(counts, static.wide_float()))
  return structures.cast(logs, static.dtype_name(counts))
