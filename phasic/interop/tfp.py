"""Wraps distributions as TensorFlow Probability distributions.

In JAX these are pytrees, in TensorFlow composite tensors.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
import inspect

import numpy as onp

from phasic.distributions.base import distribution as distribution_lib
from phasic.distributions.base import inferring
from phasic.distributions.base import samples
from phasic.distributions.base import special_methods
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.internal import late_names
from phasic.internal import static
from phasic.internal.arrays import Array, Result, Seed

MODE = "numpy"
_MISSING = (
  "the adapter needs the package tensorflow_probability: with JAX, pip install "
  "'phasic-substrates[tfp]'; with TensorFlow 'phasic-substrates[tf-tfp]' in an "
  "environment without tensorflow-cpu, or only tf-keras and tfp-nightly by pip "
  "install --no-deps"
)
try:
  if MODE == "jax":
    from tensorflow_probability.substrates import jax as tfp
  else:
    import tensorflow_probability as tfp

    # The import above is lazy. Reading this attribute loads the package and
    # tf-keras, and raises ImportError if one of them is missing.
    tfp.distributions.Distribution  # noqa: B018
except ImportError as error:
  raise ImportError(_MISSING) from error

from phasic.interop import latent_times  # noqa: E402
from phasic.interop import tfp_divergences  # noqa: E402
from phasic.interop import tfp_parameters  # noqa: E402

ConstraintBijector = tfp_parameters.ConstraintBijector


def wrap(distribution: distribution_lib.Distribution) -> TFPDistribution:
  """Wraps a distribution as a TensorFlow Probability distribution.

  It is an instance of `class_of(type(distribution))` with the same parameters.

  Args:
    distribution: the distribution to wrap; its parameters may be traced or
      variables.

  Example: the rate of a service of three stages, and two services.

    >>> from phasic.distributions import Erlang
    >>> from phasic.interop import tfp as adapter
    >>> dist = adapter.wrap(Erlang(3, [1.0, 2.0]))
    >>> tuple(dist.batch_shape)
    (2,)
    >>> print(f"{float(dist[1].log_prob(1.5)):.6f}")
    -0.802775
  """
  if not isinstance(distribution, distribution_lib.Distribution):
    raise TypeError(
      f"distribution is {type(distribution).__name__}: it must be a distribution "
      "of phasic"
    )
  # `class_of` is cached, so that its argument must be hashable. A class always
  # is, but type checkers see this only if its instances are hashable, too.
  cls = class_of(type(distribution))  # type: ignore[arg-type]
  # The stored values are passed, so that they are not converted again.
  return cls(**distribution.parameters)


@functools.cache
def class_of(cls: type[distribution_lib.Distribution]) -> type[TFPDistribution]:
  """Makes the subclass of `TFPDistribution` for a class of distributions.

  Its constructor has the same arguments; a distribution among them may be
  wrapped or not.

  Args:
    cls: a class of `phasic.distributions`, `Erlang` say.
  """
  signature = inspect.signature(cls.__init__)

  def __init__(self: TFPDistribution, *args: object, **kwargs: object) -> None:
    bound = signature.bind(self, *args, **kwargs)
    bound.apply_defaults()
    _, *values = bound.arguments.values()
    names = list(bound.arguments)[1:]
    given = dict(zip(names, values, strict=True))
    self._wrapped = cls(**{k: _unwrapped(v) for k, v in given.items()})
    TFPDistribution._initialize(self)  # noqa: SLF001

  # TensorFlow Probability reads the signature to flatten instances.
  __init__.__signature__ = signature  # type: ignore[attr-defined]
  attributes: dict[str, object] = {
    name: property(functools.partial(_parameter, name))
    for name in list(signature.parameters)[1:]
    if name not in ("validate_args", "allow_nan_stats", "name")
  }
  attributes |= {
    "__init__": __init__,
    "__doc__": f"`{cls.__name__}` as TensorFlow Probability's.",
    "__module__": __name__,
    "_parameter_properties": classmethod(
      lambda _, dtype, num_classes=None: tfp_parameters.properties(
        cls, attributes
      )
    ),
  }
  return type(TFPDistribution)(cls.__name__, (TFPDistribution,), attributes)  # type: ignore[misc]


class TFPDistribution(tfp.distributions.AutoCompositeTensorDistribution):
  """A wrapped distribution with the methods of TensorFlow Probability.

  Subclasses are made by `class_of`. Counts are floating numbers. Samples can be
  differentiated where `reparameterization_type` says so. In TensorFlow a graph
  among the parameters is there as a `Constant`, which a call returns: a
  `tf.function` is traced once for each graph.

  A transformed distribution takes an atom at zero for a density: there is no
  place in TensorFlow Probability for both. A time with an atom can be observed
  but not latent: `experimental_default_event_space_bijector` raises ValueError.
  """

  def _initialize(self) -> None:
    """Initializes the base class, after `_wrapped` has been set."""
    wrapped = self._wrapped
    # Keeps the constants alive, which `tfp_parameters` references only weakly.
    self._held = [
      tfp_parameters.held_graphs(x) for x in wrapped.parameters.values()
    ]
    full = samples.FULLY_REPARAMETERIZED
    tfp.distributions.AutoCompositeTensorDistribution.__init__(
      self,
      dtype=_dtype(wrapped.dtype),
      reparameterization_type=tfp.distributions.FULLY_REPARAMETERIZED
      if wrapped.reparameterization_type is full
      else tfp.distributions.NOT_REPARAMETERIZED,
      validate_args=wrapped.validate_args,
      allow_nan_stats=wrapped.allow_nan_stats,
      parameters=wrapped.parameters,
      name=wrapped.name,
    )

  @property
  def wrapped(self) -> distribution_lib.Distribution:
    """The wrapped distribution of phasic."""
    return self._wrapped

  def __reduce__(self) -> str | tuple[object, ...]:
    # Pickle looks for a class in its module. The classes of `class_of` are in
    # no module, so that pickle stores a call of `wrap`.
    if type(self) is class_of(type(self._wrapped)):  # type: ignore[arg-type]
      return wrap, (self._wrapped,)
    return super().__reduce__()

  def __getitem__(self, slices: special_methods.Index) -> TFPDistribution:
    return wrap(self._wrapped[slices])

  def _broadcast_parameters_with_batch_shape(
    self, batch_shape: Array
  ) -> TFPDistribution:
    # TensorFlow Probability calls this before it slices a distribution that is
    # part of another one. The inherited method would treat edges and lists of
    # parameters as tensors.
    own_shape = inferring.batch_shape(self._wrapped)
    shape = static.broadcast_shapes(_sizes(batch_shape), own_shape)
    return wrap(inferring.with_batch_shape(self._wrapped, shape))

  def _batch_shape(self) -> static.Shape:
    return self._wrapped.batch_shape

  def _event_shape(self) -> static.Shape:
    return self._wrapped.event_shape

  def _sample_n(self, n: int | Array, seed: Seed | None = None) -> Result:
    seed = tfp.random.sanitize_seed(seed, salt=type(self).__name__)
    return _read(self).sample(n, seed=seed)

  def _experimental_tangent_space(self, x: object) -> object:
    # Discrete probabilities have no Jacobian factor under a transformation.
    spaces = tfp.experimental.tangent_spaces
    return spaces.ZeroSpace() if self._is_discrete() else spaces.FullSpace()

  def _is_discrete(self) -> bool:
    return self._wrapped.support.constraint == "nonnegative_integer"

  def _default_event_space_bijector(self) -> object:
    if self._is_discrete():
      return None
    latent_times.check(_read(self))
    grow = tfp.bijectors.Exp(validate_args=self.validate_args)
    support = self._wrapped.support
    if support.low is None:
      return grow
    if support.high is None:
      return tfp.bijectors.Chain([tfp.bijectors.Shift(support.low), grow])
    known = static.concrete(support.high)
    if known is not None and onp.any(known == onp.inf):
      raise NotImplementedError(
        "some upper bounds of the batch are inf and others finite: for a "
        "bijector all must be inf or all finite; wrap the parts separately"
      )
    return tfp.bijectors.Sigmoid(support.low, support.high)


# These methods have the same names in TensorFlow Probability.
_METHODS = (
  "batch_shape_tensor",
  "event_shape_tensor",
  "log_prob",
  "prob",
  "log_cdf",
  "cdf",
  "log_survival_function",
  "survival_function",
  "quantile",
  "mean",
  "variance",
  "stddev",
  "covariance",
  "mode",
  "entropy",
)


def _method(name: str) -> Callable[..., Result]:
  def call(self: TFPDistribution, *args: object) -> Result:
    return getattr(_read(self), name)(*args)

  return call


for _name in _METHODS:
  setattr(TFPDistribution, f"_{_name}", _method(_name))


@tfp.distributions.RegisterKL(TFPDistribution, TFPDistribution)
def _kl_divergence(
  p: TFPDistribution, q: TFPDistribution, name: str | None = None
) -> Result:
  return _read(p).kl_divergence(_read(q))


# `tfd.Exponential` is a subclass of `tfd.Gamma`: these rules cover both.
@tfp.distributions.RegisterKL(TFPDistribution, tfp.distributions.Gamma)
def _kl_to_gamma(
  p: TFPDistribution, q: object, name: str | None = None
) -> Result:
  return tfp_divergences.to_gamma(_read(p), q)


@tfp.distributions.RegisterKL(tfp.distributions.Gamma, TFPDistribution)
def _kl_from_gamma(
  p: object, q: TFPDistribution, name: str | None = None
) -> Result:
  return tfp_divergences.from_gamma(p, _read(q))


def _sizes(shape: Array) -> static.Shape:
  """Returns the sizes of a shape, scalar arrays where they are not known."""
  known = static.concrete(shape)
  if known is not None:
    return tuple(known.tolist())
  return tuple(shape[i] for i in range(static.shape(shape)[0]))


def _read(dist: TFPDistribution) -> distribution_lib.Distribution:
  """Returns the wrapped distribution, after each variable was read once.

  A variable may be the result of a costly function, and methods of phasic read
  it whenever they need it.
  """
  return inferring.with_current_values(dist.wrapped)


def _parameter(name: str, dist: TFPDistribution) -> object:
  """Returns a parameter in a form that TensorFlow Probability can flatten."""
  value = dist.wrapped.parameters[name]
  if isinstance(value, distribution_lib.Distribution):
    return wrap(value)
  if MODE == "tf":
    value = tfp_parameters.held_graphs(value)
  return tfp_parameters.held(value)


def _unwrapped(value: object) -> ParameterValue:
  value = tfp_parameters.value_of(value)
  return value.wrapped if isinstance(value, TFPDistribution) else value


def _dtype(name: str) -> object:
  """Returns the dtype in TensorFlow Probability's form."""
  dtype: object = onp.dtype(name)
  if MODE == "tf":
    import tensorflow

    dtype = tensorflow.as_dtype(dtype)
  return dtype


__all__ = ["wrap"]
__dir__ = late_names.lister(__name__)
