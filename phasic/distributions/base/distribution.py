"""The base class of all distributions, with its public methods."""

from __future__ import annotations

from collections.abc import Mapping
import inspect
from typing import Any, NoReturn, Self, TypeVar

import numpy as np
import numpy as onp

from phasic.distributions.base import adopted_dtypes
from phasic.distributions.base import bijectors
from phasic.distributions.base import conversions
from phasic.distributions.base import declared
from phasic.distributions.base import hooks
from phasic.distributions.base import method_results
from phasic.distributions.base import parameter_properties as properties_lib
from phasic.distributions.base import parameterized
from phasic.distributions.base import samples
from phasic.distributions.base import special_methods
from phasic.distributions.base import structure
from phasic.internal import dtypes
from phasic.internal import random
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import (
  Array,
  ArrayLike,
  Integer,
  Result,
  Seed,
  ShapeLike,
)
from phasic.math.elimination import chain_calls
from phasic.saving import texts


class Distribution(parameterized.Parameterized):
  """A distribution with the contract of TensorFlow Probability.

  A public method converts its argument, checks it where `validate_args` is
  True, and calls the method of the same name with an underscore, which a
  subclass has. Missing ones are made from each other (see `hooks.Hooks`), or
  raise NotImplementedError with a reason. In NumPy a result without dimensions
  is a scalar, np.float64 or np.float32, as that of NumPy's own functions is.

  Methods of a value raise ValueError where it does not broadcast with the
  batch, and TypeError where dtypes differ. Where all parameters are Python
  numbers or integers, `dtype`, statistics and samples are float64 (float32 in
  JAX without 64-bit numbers); in TensorFlow methods of a float32 value return
  float32 then, in NumPy and JAX values are promoted. Batch, value and sample
  may be empty: so is the result then. A probability or another argument that breaks its rule
  gives NaN and a warning, with `validate_args` it raises ValueError. A
  statistic that is NaN raises ValueError with allow_nan_stats=False, in
  TensorFlow tf.errors.InvalidArgumentError; under jit in JAX it cannot, and
  stays NaN.

  A subclass passes its constructor's arguments, all of them, to `__init__`
  here; they are its only state. It declares them in its body, see `declared`,
  and has the constructor by that; or it has one of its own, and says which are
  arrays, and of what kind, by the class method `_parameter_properties`.

  Example: a function of any distribution, its coefficient of variation.

    >>> from phasic.distributions import Distribution, Erlang
    >>> def variation(dist: Distribution) -> float:
    ...   return float(dist.stddev() / dist.mean())
    >>> print(f"{variation(Erlang(4, 3.0)):.6f}")
    0.500000

  References:
    J. V. Dillon et al., TensorFlow Distributions, arXiv:1711.10604, 2017.
  """

  validate_args: bool = declared.option(
    "whether values are checked, at some cost.", default=False, kw_only=True
  )
  allow_nan_stats: bool = declared.option(
    "whether statistics may be NaN; otherwise they raise.",
    default=True,
    kw_only=True,
  )
  name: str = declared.option(
    "the distribution's name.", default="", kw_only=True
  )

  def __init_subclass__(cls, **kwargs: object) -> None:
    """Adds the constructor of a subclass, from its declared parameters."""
    super().__init_subclass__(**kwargs)
    declared.complete(cls)
    conversions.adapt(cls)
    adopted_dtypes.adapt(cls)

  def __init__(self, parameters: Mapping[str, object]):
    """Stores the parameters, and converts arrays to their common dtype.

    Args:
      parameters: every argument of the subclass's constructor, by name,
        `validate_args`, `allow_nan_stats` and `name` among them. Variables
        are kept and read at each use.

    Raises:
      TypeError: dtypes differ, or are complex or bool, an
        array that must be given is None, or an option has a wrong type.
      ValueError: an array is ragged.
    """
    self._keep(parameters)

  @classmethod
  def parameter_properties(cls) -> properties_lib.Properties:
    """Returns the properties of the array parameters, by name."""
    return cls._properties()

  @property
  def parameters(self) -> dict[str, properties_lib.ParameterValue]:
    """The constructor's arguments, by name."""
    return dict(self._parameters)

  @property
  def dtype(self) -> str:
    """The name of the dtype of parameters, values and results."""
    return conversions.half_of(self) or dtypes.common_dtype(
      structure.leaves(self._arrays())
    )

  @property
  def reparameterization_type(self) -> samples.ReparameterizationType:
    """Whether samples can be differentiated in the parameters."""
    return samples.NOT_REPARAMETERIZED

  @property
  def batch_shape(self) -> tuple[int | None, ...]:
    """The batch shape; None for a size that is not known statically."""
    shape = self._batch_shape()
    return tuple(d if isinstance(d, int) else None for d in shape)

  @property
  def event_shape(self) -> tuple[int | None, ...]:
    """The shape of one value; None for a size that is not known statically."""
    shape = self._event_shape()
    return tuple(d if isinstance(d, int) else None for d in shape)

  def batch_shape_tensor(self) -> Array:
    """Returns the batch shape as an integer array."""
    return _shape_array(self._batch_shape())

  def event_shape_tensor(self) -> Array:
    """Returns the event shape, the shape of one value, as an integer array."""
    return _shape_array(self._event_shape())

  def copy(self, **overrides: object) -> Self:
    """Returns a distribution with some of the parameters replaced.

    Args:
      **overrides: constructor arguments.
    """
    return type(self)(**{**self._parameters, **overrides})

  def _saved_parts(self) -> dict[str, properties_lib.ParameterValue]:
    self._check_rules(f"; {type(self).__name__} cannot be saved")
    return self.parameters

  @classmethod
  def _from_saved_parts(cls, parts: dict[str, Any]) -> Self:
    names = inspect.signature(cls).parameters
    texts.check_keys(parts, names, "parameters")
    with user_warnings.derived():
      made = cls(**parts)
    made._check_rules()
    # Now nothing is left but sums that are off by rounding.
    properties_lib.look_at(conversions.single(made))
    return made

  def _check_rules(self, advice: str = "") -> None:
    """Raises ValueError for the first rule that concrete parameters break."""
    broken = properties_lib.broken_rule(conversions.single(self))
    if broken is not None:
      raise ValueError(f"{broken}{advice}")

  def _with_arrays(
    self, arrays: Mapping[str, object], **options: object
  ) -> Self:
    """Returns a copy with some arrays, by name, and options replaced."""
    return self.copy(**arrays, **options)

  def __getitem__(self, index: special_methods.Index) -> Self:
    """Slices the batch: returns the distribution of a part of it."""
    conversions.warn_of_variables("a slice", self)
    return self._sliced(index)

  def _sliced(
    self, index: special_methods.Index, batch: static.Shape | None = None
  ) -> Self:
    """Slices the batch, which is broadcast to the shape `batch` if given."""
    sliced = special_methods.slice_parameters(
      self.parameter_properties(),
      conversions.kept_by_slices(self),
      index,
      batch,
    )
    return self.copy(**sliced)

  def __iter__(self) -> NoReturn:
    raise TypeError(
      f"{type(self).__name__} is not iterable: index its batch, e.g. dist[0]"
    )

  def __repr__(self) -> str:
    return special_methods.text_of(self, self._parameters)

  def log_prob(self, value: ArrayLike) -> Result:
    """Returns the log density, broadcast over value and batch."""
    return self._at_value("log_prob", self._log_prob, value)

  def unnormalized_log_prob(self, value: ArrayLike) -> Result:
    """Returns `log_prob`: all densities here are normalized."""
    return self.log_prob(value)

  def prob(self, value: ArrayLike) -> Result:
    """Returns the density, broadcast over value and batch."""
    return self._at_value("prob", self._prob, value)

  def cdf(self, value: ArrayLike) -> Result:
    """Returns P(X <= value), broadcast over value and batch."""
    return self._at_value("cdf", self._cdf, value)

  def log_cdf(self, value: ArrayLike) -> Result:
    """Returns log P(X <= value), broadcast over value and batch."""
    return self._at_value("log_cdf", self._log_cdf, value)

  def survival_function(self, value: ArrayLike) -> Result:
    """Returns P(X > value), broadcast over value and batch."""
    return self._at_value("survival_function", self._survival_function, value)

  def log_survival_function(self, value: ArrayLike) -> Result:
    """Returns log P(X > value), broadcast over value and batch."""
    return self._at_value(
      "log_survival_function", self._log_survival_function, value
    )

  def hazard_function(self, value: ArrayLike) -> Result:
    """Returns the hazard f(t) / P(X > t), broadcast over value and batch.

    It is right however far in the tail. At t = 0 it is the limit from the
    right, f(0+) / P(X > 0), whatever the atom is; the atom is in
    `cumulative_hazard`. It is zero for t < 0, and NaN at infinity and where it
    would have less than six digits: rates times times are above 1e8 then.

    In discrete time it is P(N = k) / P(N >= k), the probability of the end in
    step k, and at zero that of the atom; zero at values that are not whole, NaN
    at infinity and where the end has come for certain. Its relative error is
    up to 16 eps |log P(N >= k)|, with eps of the widest precision there is; it
    is NaN where that leaves less than six digits (three in single precision).

    Example: the hazard of an exponential time is its rate.

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0], [[-2.0]])
      >>> print(f"{float(dist.hazard_function(1e6)):.6f}")
      2.000000

    Reference: D. R. Cox, D. Oakes, Analysis of survival data, 1984, ch. 2.
    """
    return self._at_value("hazard_function", self._hazard_function, value)

  def log_hazard_function(self, value: ArrayLike) -> Result:
    """Computes the log hazard, also where the hazard underflows.

    Example: a stage has to end before 1e-300, and another one at that time.

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0, 0.0], [[-1.0, 1.0], [0.0, -1.0]])
      >>> print(f"{float(dist.log_hazard_function(1e-300)):.6f}")
      -690.775528
    """
    return self._at_value(
      "log_hazard_function", self._log_hazard_function, value
    )

  def cumulative_hazard(self, value: ArrayLike) -> Result:
    """Returns -log P(X > t), broadcast over value and batch.

    It is the integral of the hazard, and where there is an atom that starts at
    -log(1 - z). In discrete time it is the sum of -log(1 - hazard). It has its
    digits at early times, too, where it is nearly P(X <= t).

    Example:

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0], [[-2.0]])
      >>> print(f"{float(dist.cumulative_hazard(1e6)):.1f}")
      2000000.0
    """
    return self._at_value("cumulative_hazard", self._cumulative_hazard, value)

  def sample(
    self, sample_shape: ShapeLike = (), seed: Seed | None = None
  ) -> Result:
    """Draws samples; equal seeds give equal samples.

    Args:
      sample_shape: an int or a tuple of ints, in TensorFlow also a tensor or a
        tuple with tensors, which may be traced.
      seed: for NumPy an int, SeedSequence or Generator, for JAX a key, for
        TensorFlow an int or a pair of ints.

    Returns:
      An array of shape sample_shape + batch_shape + event_shape.

    Raises:
      TypeError: the seed is None or not of such a type, or sample_shape has
        something else than integers.
      ValueError: sample_shape has a negative size.
    """
    own = random.sanitize_seed(seed, salt=type(self).__name__)
    shape = samples.checked_shape(sample_shape)
    whole = (*shape, *self._batch_shape(), *self._event_shape())
    whole = raw_arguments.checked_size(whole)
    n = 1
    for d in shape:
      n = n * d
    if isinstance(n, int):
      drawn = self._sample_n(n, own)
    else:
      # A traced number of samples may be zero. So at least one sample is drawn,
      # and dropped if the number is zero.
      drawn = self._sample_n(np.maximum(n, 1), own)[:n]
    return self._result("sample", np.reshape(drawn, whole))

  def sample_and_log_prob(
    self, sample_shape: ShapeLike = (), seed: Seed | None = None
  ) -> tuple[Result, Result]:
    """Draws samples, and computes `log_prob` at them.

    Arguments and errors are as for `sample`; the second array has no event
    dimensions.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0], [[-2.0]])
      >>> x, log_prob = dist.sample_and_log_prob(seed=1)
      >>> print(f"{float(log_prob - dist.log_prob(x)):.3f}")
      0.000
    """
    x = self.sample(sample_shape, seed)
    # A draw that could not be computed is NaN. The user did not pass it, so
    # `log_prob` must not raise because of it.
    unchecked = self.copy(validate_args=False) if self.validate_args else self
    return x, unchecked.log_prob(x)

  def quantile(self, value: ArrayLike) -> Result:
    """Returns Q(u) = inf{t: P(X <= t) >= u}, broadcast over u and batch.

    It is 0 up to the mass at zero, and inf at u = 1. For u near one take
    `quantile_log_survival`, which has more digits.

    Args:
      value: probabilities u, (...), in [0, 1].

    Example: the median of an exponential time is log(2) / rate.

      >>> from phasic.distributions import PhaseType
      >>> print(f"{float(PhaseType([1.0], [[-2.0]]).quantile(0.5)):.6f}")
      0.346574
    """
    return self._at_argument("quantile", self._quantile, value)

  def median(self) -> Result:
    """Computes the median, the quantile of 1/2; it has the batch shape.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> print(f"{float(PhaseType([1.0], [[-2.0]]).median()):.6f}")
      0.346574
    """
    value = self._as_array(0.5, "value")
    return self._result("median", self._quantile(value))

  def quantile_log_survival(self, value: ArrayLike) -> Result:
    """Computes the inverse log survival function (SciPy: isf of exp).

    Args:
      value: log probabilities v, (...), <= 0.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0], [[-2.0]])
      >>> print(f"{float(dist.quantile_log_survival(-1e4)):.6f}")
      5000.000000
    """
    return self._at_argument(
      "quantile_log_survival", self._quantile_log_survival, value
    )

  def quantile_log_cdf(self, value: ArrayLike) -> Result:
    """Computes the inverse log cdf (SciPy: ppf of exp).

    Args:
      value: log probabilities v, (...), <= 0.

    Example: half of exp(-1000).

      >>> import math
      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0], [[-2.0]])
      >>> value = dist.quantile_log_cdf(-500.0)
      >>> print(f"{math.log(float(value)):.6f}")
      -500.693147
    """
    return self._at_argument("quantile_log_cdf", self._quantile_log_cdf, value)

  def mean(self) -> Result:
    """Returns the mean, of shape batch_shape + event_shape."""
    return self._statistic("mean", self._mean())

  def variance(self) -> Result:
    """Returns the variance, of shape batch_shape + event_shape."""
    return self._statistic("variance", self._variance())

  def stddev(self) -> Result:
    """Returns the standard deviation, of shape batch_shape + event_shape."""
    return self._statistic("stddev", self._stddev())

  def covariance(self) -> Result:
    """Returns the covariances of a vector's entries, an array (..., R, R).

    Raises:
      NotImplementedError: a value is one number, whose `variance` there is.
    """
    return self._statistic("covariance", self._covariance())

  def moment(self, k: Integer) -> Result:
    """Returns the raw moment E[X^k]; it has the batch shape.

    It is inf where absorption may never come. In continuous time E[X^k] = k!
    alpha (-S)^-k 1.

    Args:
      k: a positive integer, at most 170.

    Raises:
      NotImplementedError: there is no such formula for the family.
      ValueError: k is something else.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> print(f"{float(PhaseType([1.0], [[-2.0]]).moment(3)):.6f}")
      0.750000
    """
    k = chain_calls.checked_order(k, "k")
    return self._statistic(f"moment({k})", self._moment(k))

  def mode(self) -> Result:
    """Returns the mode; it has the batch shape.

    Raises:
      NotImplementedError: it is not known whether the density has one maximum.
    """
    return self._statistic("mode", self._mode())

  def entropy(self) -> Result:
    """Returns the entropy -E log p(X) in nats; it has the batch shape.

    With a density f on (0, inf) and an atom z at zero it is -z log(z) -
    integral of f(t) log f(t) dt, and in discrete time -sum p(k) log p(k). The
    error is at most 1e-9 (float32: 1e-4) of the integral of |f log f|, or the
    result is NaN; mostly it is near rounding. See `math.phase_type.entropy`.

    Raises:
      NotImplementedError: there is no such formula for the family.

    Example: an exponential time has 1 - log(rate).

      >>> from phasic.distributions import PhaseType
      >>> print(f"{float(PhaseType([1.0], [[-2.0]]).entropy()):.6f}")
      0.306853
    """
    return self._statistic("entropy", self._entropy())

  def kl_divergence(self, other: object) -> Result:
    """Returns E log(p(X) / q(X)), broadcast over both batches, in nats.

    X has this distribution, with density p with respect to the base measure,
    and q is the other's. It is inf where q has no mass but p has some: an atom
    at zero, or a number of steps. What is computed is the sum of p log(p / q) -
    p + q, of which no term is negative; the error is at most 1e-9 (float32:
    1e-4) of it and eps, or the result is NaN. See `math.phase_type.kl_divergence`.

    Args:
      other: a distribution of the same kind of time and the same dtype, or of
        any class that `register_kl` knows.

    Raises:
      NotImplementedError: there is no rule for the two classes.
      TypeError: dtypes differ.
      ValueError: batch shapes do not broadcast.

    Example: of exponential times, log(a / b) + b / a - 1.

      >>> from phasic.distributions import PhaseType
      >>> first = PhaseType([1.0], [[-2.0]])
      >>> second = PhaseType([1.0], [[-1.0]])
      >>> print(f"{float(first.kl_divergence(second)):.6f}")
      0.193147

    Reference: S. Kullback, R. Leibler, On information and sufficiency, Ann.
      Math. Stat. 22, 1951.
    """
    found = method_results.divergence(self, other, ("self", "other"))
    return self._statistic("kl_divergence", found, other)

  def cross_entropy(self, other: hooks.Hooks) -> Result:
    """Returns -E log q(X), broadcast over both batches, in nats.

    X has this distribution and q is the other's density. Arguments, errors and
    accuracy are as for `kl_divergence`; the error is relative to the integral
    of |p log q|.

    Example: of exponential times, b / a - log(b).

      >>> from phasic.distributions import PhaseType
      >>> first = PhaseType([1.0], [[-2.0]])
      >>> second = PhaseType([1.0], [[-1.0]])
      >>> print(f"{float(first.cross_entropy(second)):.6f}")
      0.500000
    """
    hooks.check_distribution("other", other)
    method_results.check_batches("cross_entropy", self, other)
    return self._statistic("cross_entropy", self._cross_entropy(other), other)

  def laplace_transform(self, u: ArrayLike) -> Result:
    """Returns E exp(-u X); in continuous time it is z + alpha (u I - S)^-1 s.

    Nothing is subtracted: it is the probability that X ends before a clock of
    rate u rings.

    Args:
      u: (...), per unit of time; finite and >= 0, else the result is NaN: for u
        < 0 take `moment_generating_function(-u)`.

    Returns:
      An array of the common shape of u and the batch.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> value = PhaseType([1.0], [[-2.0]]).laplace_transform(0.5)
      >>> print(f"{float(value):.6f}")
      0.800000
    """
    return self._at_argument("laplace_transform", self._laplace_transform, u)

  def moment_generating_function(self, s: ArrayLike) -> Result:
    """Computes E exp(s X); it is inf for s at or above the decay rate.

    In continuous time it is z + alpha (-(S + s I))^-1 exits, in discrete time
    P(N = 0) + alpha (exp(-s) I - T)^-1 exits. Close below the decay rate digits
    are lost as they are in 1 - s / rate; where rounding leaves open on which
    side s is, the result is NaN.

    Args:
      s: (...), per unit of time, finite. For s > 0 a matrix is made, of at most
        4096 phases.

    Returns:
      An array of the common shape of s and the batch.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0], [[-2.0]])
      >>> values = dist.moment_generating_function([-2.0, 1.0, 2.0])
      >>> [f"{float(value):.3f}" for value in values]
      ['0.500', '2.000', 'inf']

    Reference: M. Bladt, B. F. Nielsen, Matrix-exponential distributions in
      applied probability, 2017, ch. 3.
    """
    return self._at_argument(
      "moment_generating_function", self._moment_generating_function, s
    )

  def probability_generating_function(self, z: ArrayLike) -> Result:
    """Computes E z^N of a number of steps N: P(N = 0) + z alpha (I - z T)^-1 t.

    Args:
      z: (...), in [0, 1], else the result is NaN: for z > 1 take
        `moment_generating_function(log(z))`.

    Returns:
      An array of the common shape of z and the batch.

    Raises:
      NotImplementedError: values are not whole numbers; `laplace_transform`,
        where there is one, is E z^X at u = -log(z).

    Example: throws of a die until the first six.

      >>> from phasic.distributions import DiscretePhaseType
      >>> throws = DiscretePhaseType([1.0], [[5 / 6]])
      >>> value = throws.probability_generating_function(0.5)
      >>> print(f"{float(value):.6f}")
      0.142857
    """
    return self._at_argument(
      "probability_generating_function",
      self._probability_generating_function,
      z,
    )

  def diagnose(
    self, value: object = None, method: str = "log_prob"
  ) -> onp.ndarray:
    """Returns why a method gives NaN, or has no derivatives, as text.

    An eager call whose result has NaN that its argument and the parameters did
    not have warns of it, with the first of these reasons.

    Args:
      value: what the method is called with, which must not be traced; None for
        a method without an argument, and for `sample`.
      method: the method's name: that of any method here which returns numbers,
        e.g. "log_prob", "hazard_function", "quantile" or "mean".

    Returns:
      A host array of strings with the shape of the method's result, "ok" where
      it is finite. Where it is infinite, the text says that it has no
      derivatives.

    Raises:
      NotImplementedError: the distribution does not have the method.
      TypeError: value or parameters are traced.
      ValueError: there is no such method, or it takes a value and there is
        none, or the other way round.

    Example:

      >>> import math
      >>> from phasic.distributions import PhaseType
      >>> str(PhaseType([1.0], [[-1.0]]).diagnose(math.nan, "cdf"))
      'value: is NaN'
    """
    return method_results.reasons(self, value, method)

  @property
  def support(self) -> samples.Support:
    """The set of possible finite values, without sets of probability zero.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> PhaseType([1.0], [[-2.0]]).support
      Support(constraint='nonnegative', event_ndims=0)
    """
    return self._support()

  def experimental_default_event_space_bijector(self) -> bijectors.Bijector:
    """Returns a smooth map from all real numbers onto the support's interior.

    That is (0, inf) but for truncated distributions. It is called as in
    TensorFlow Probability. Where there is an atom it covers the rest.

    Raises:
      NotImplementedError: values are whole numbers.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0], [[-2.0]])
      >>> bijector = dist.experimental_default_event_space_bijector()
      >>> print(f"{float(bijector.forward(1.0)):.6f}")
      2.718282
    """
    support = self._support()
    if support.constraint != "nonnegative":
      self._missing(
        "experimental_default_event_space_bijector",
        "its values are whole numbers, which no smooth map reaches",
      )
    if support.low is None:
      return bijectors.Exp(support.event_ndims)
    high = float("inf") if support.high is None else support.high
    return bijectors.Interval(support.low, high, support.event_ndims)


# The class of the distribution that a function takes, and returns.
DistributionT = TypeVar("DistributionT", bound=Distribution)

declared.complete(Distribution)
for _class in (parameterized.Parameterized, Distribution):
  conversions.adapt(_class)
  adopted_dtypes.adapt(_class)


def _shape_array(shape: static.Shape) -> Array:
  if all(isinstance(d, int) for d in shape):
    return structures.cast(onp.asarray(shape, onp.int32), "int32")
  return np.stack([structures.cast(d, "int32") for d in shape])
