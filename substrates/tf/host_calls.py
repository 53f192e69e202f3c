"""Calls of Python functions of NumPy arrays, as TensorFlow makes them.

Eager calls are plain calls. In a `tf.function` they are `tf.numpy_function`,
stateless, so that what nothing uses is not called. Rules are registered as all
others are, see `custom_gradient`.
"""

from collections.abc import Callable, Mapping, Sequence
import functools
from typing import Any

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import custom_gradient
from phasic.substrates.tf.internal import host_functions
from phasic.substrates.tf.internal import trees


def call(
  function: host_functions.HostFunction,
  abstract: Callable[..., Any] | None,
  args: Sequence[Any],
  options: Mapping[str, Any],
) -> Any:
  """Returns what a function returns; there are no derivatives.

  Args:
    function: the function.
    abstract: `abstract(*args, **options)` of arguments with shapes and dtypes
      returns what has the result's; None calls the function with zeros.
    args: trees of arrays.
    options: keyword arguments, which are no arrays.

  Raises:
    TypeError: results are not as `abstract` says, in eager calls.
  """
  args = trees.map_leaves(_tensor, tuple(args))
  like = None
  if abstract is not None or not tf.executing_eagerly():
    like = result_like(function, abstract, args, options)
  return _evaluate(function, args, options, like)


def call_multilinear(
  functions: host_functions.Functions,
  abstract: Callable[..., Any] | None,
  fixed: Sequence[Any],
  args: Sequence[Any],
  options: Mapping[str, Any],
) -> Any:
  """Returns what a function returns that is linear in each of its arguments.

  Args:
    functions: the function f, and for each of `args` its transpose, called as
      `transpose(*fixed, *others, cotangent)`.
    abstract: as for `call`, of all arguments.
    fixed: trees of arrays, in which there are no derivatives.
    args: trees of floating arrays.
    options: keyword arguments, which are no arrays.
  """
  function = functions[0]
  assert isinstance(function, host_functions.HostFunction)
  fixed, args = trees.map_leaves(_tensor, (tuple(fixed), tuple(args)))
  like = result_like(function, abstract, (*fixed, *args), options)
  specs = trees.map_leaves(_spec, (args, like))
  statics = tuple((k, type(v), v) for k, v in sorted(options.items()))
  family = _family(tuple(functions), statics, _Key(specs))
  return family.apply(0, fixed, args)


def result_like(
  function: host_functions.HostFunction,
  abstract: Callable[..., Any] | None,
  args: Sequence[Any],
  options: Mapping[str, Any],
) -> Any:
  """Returns what has the shapes and dtypes of a function's result.

  Arguments are those of `call`.
  """
  name = function.name
  specs = trees.map_leaves(_spec, tuple(args))
  if abstract is not None:
    result = abstract(*specs, **options)
    return trees.map_leaves(lambda x: _checked_spec(name, x), result)
  if any(size is None for s in trees.flatten(specs) for size in s.shape):
    raise TypeError(host_functions.unknown_sizes(name))
  zeros = trees.map_leaves(lambda s: onp.zeros(s.shape, s.dtype), specs)
  result = host_functions.result_of_zeros(name, function.f, zeros, options)
  return trees.map_leaves(lambda x: _spec(onp.asarray(x)), result)


def is_differentiable(x: Any) -> bool:
  """Returns whether an array, or its spec, is floating or complex."""
  dtype = x.dtype if hasattr(x, "dtype") else onp.asarray(x).dtype
  dtype = tf.as_dtype(dtype)
  return dtype.is_floating or dtype.is_complex


def forward_rule(f: Callable[..., Any]) -> Callable[..., Any]:
  """Returns the rule `vjp_fwd` of a function whose residuals are arguments."""
  del f  # Its result is known to `custom_gradient`: it is not called again.
  return lambda *args: (None, args)


def map_leaves(f: Callable[[Any], Any], tree: Any) -> Any:
  """Returns a tree with `f` of its leaves; None is no leaf."""
  return trees.map_leaves(f, tree)


def conjugated(tree: Any) -> Any:
  """Returns what the cotangents of rules are to the backend's: conjugates."""
  return trees.map_leaves(
    lambda x: tf.math.conj(x) if tf.as_dtype(x.dtype).is_complex else x, tree
  )


def last_error() -> BaseException | None:
  """Returns the last exception of a function that compiled code called."""
  return host_functions.errors.last()


class _Key:
  """A tree of specs as a key of a dictionary."""

  def __init__(self, tree: Any):
    self.tree = tree
    self._text = repr(tree)

  def __eq__(self, other: object) -> bool:
    return isinstance(other, _Key) and self._text == other._text

  def __hash__(self) -> int:
    return hash(self._text)


class _Family:
  """A function, linear in each of its slots, and its transposes.

  They are each other's gradients.
  """

  def __init__(
    self,
    functions: tuple[host_functions.HostFunction | host_functions.Missing, ...],
    options: dict[str, Any],
    arg_specs: tuple[Any, ...],
    out_specs: Any,
  ):
    self._functions = functions
    self._options = options
    self._arg_specs = arg_specs
    self._out_specs = out_specs
    self._ops = [self._op(target) for target in range(len(functions))]

  def apply(self, target: int, fixed: Any, slots: Sequence[Any]) -> Any:
    """Calls f, or, for i + 1, its transpose in slot i.

    The slots of a transpose are f's others and the cotangent.
    """
    function = self._functions[target]
    if tf.executing_eagerly() and not isinstance(
      function, host_functions.Missing
    ):
      message = host_functions.no_derivative(function.name)
      fixed = trees.map_leaves(
        lambda x: _constant(message, x) if is_differentiable(x) else x, fixed
      )
    return self._ops[target](fixed, *slots)

  def _op(self, target: int) -> Callable[..., Any]:
    function = self._functions[target]
    specs = self._out_specs if target == 0 else self._arg_specs[target - 1]

    def evaluate(fixed: Any, *slots: Any) -> Any:
      if isinstance(function, host_functions.Missing):
        return _failing(function.message, trees.flatten(slots), specs)
      return _evaluate(function, (*fixed, *slots), self._options, specs)

    def backward(residuals: Any, cotangent: Any) -> Any:
      fixed, *slots = residuals
      plain = conjugated(cotangent)
      return (
        _fixed_gradients(function, fixed, cotangent),
        *(
          conjugated(self._transposed(target, slot, fixed, slots, plain))
          for slot in range(len(slots))
        ),
      )

    evaluate.__name__ = getattr(function, "name", "missing")
    rule = custom_gradient.custom_gradient(
      vjp_fwd=forward_rule(evaluate), vjp_bwd=backward
    )
    return rule(evaluate)

  def _transposed(
    self,
    target: int,
    slot: int,
    fixed: Any,
    slots: Sequence[Any],
    cotangent: Any,
  ) -> Any:
    """The transpose in a slot of f, or of one of its transposes."""
    others = [x for i, x in enumerate(slots) if i != slot]
    count = len(self._arg_specs)
    if target == 0:
      return self.apply(slot + 1, fixed, [*others, cotangent])
    own = target - 1
    if slot == count - 1:
      # In the cotangent: f, with this one's cotangent as the own argument.
      args = [*others[:own], cotangent, *others[own:]]
      return self.apply(0, fixed, args)
    # In another argument: its transpose, where the own argument is given.
    index = slot if slot < own else slot + 1
    kept = [i for i in range(count) if i not in (own, index)]
    known = dict(zip(kept, others[:-1], strict=True))
    known[own] = cotangent
    args = [known[i] for i in sorted(known)]
    return self.apply(index + 1, fixed, [*args, others[-1]])


@functools.lru_cache(maxsize=4096)
def _family(
  functions: tuple[Any, ...],
  options: tuple[tuple[str, type, Any], ...],
  specs: _Key,
) -> _Family:
  args, out = specs.tree
  keywords = {name: value for name, _, value in options}
  return _Family(functions, keywords, args, out)


def _evaluate(
  function: host_functions.HostFunction,
  args: tuple[Any, ...],
  options: Mapping[str, Any],
  like: Any,
) -> Any:
  """Calls a function; `like` is what its result has to be, None for anything."""
  if tf.executing_eagerly():
    arrays = trees.map_leaves(lambda x: onp.array(x.numpy()), args)
    result = function.f(*arrays, **options)
    if like is None:
      return trees.map_leaves(lambda x: _tensor(onp.asarray(x)), result)
    leaves = _checked(function.name, result, like)
    return trees.pack(like, [tf.convert_to_tensor(x) for x in leaves])

  structure = trees.skeleton(args)

  def on_host(*values: Any) -> list[onp.ndarray]:
    arrays = trees.pack(structure, [onp.array(x) for x in values])
    try:
      return _checked(function.name, function.f(*arrays, **options), like)
    except Exception as error:
      message = host_functions.errors.keep(function.name, error)
      raise RuntimeError(message) from error

  return _in_graph(on_host, trees.flatten(args), like)


def _in_graph(
  on_host: Callable[..., Any], values: Sequence[tf.Tensor], like: Any
) -> Any:
  """Calls a host function of flat arrays when the graph runs."""
  specs = trees.flatten(like)
  results = tf.numpy_function(
    on_host,
    list(values),
    [tf.as_dtype(s.dtype) for s in specs],
    stateful=False,
    name="phasic_bound",
  )
  results = list(results) if isinstance(results, (list, tuple)) else [results]
  for result, spec in zip(results, specs, strict=True):
    result.set_shape(spec.shape)
  return trees.pack(like, results)


def _failing(message: str, values: Sequence[tf.Tensor], like: Any) -> Any:
  """Raises; in a graph, when it runs, which it does if its result is used."""
  if tf.executing_eagerly():
    raise NotImplementedError(message)

  def on_host(*values: Any) -> Any:
    del values
    raise NotImplementedError(message)

  return _in_graph(on_host, values, like)


def _fixed_gradients(
  function: host_functions.HostFunction | host_functions.Missing,
  fixed: Any,
  cotangent: Any,
) -> Any:
  """Gradients in the arguments that have none.

  A tape asks for all of an op's gradients, and uses some. Eagerly they are
  zeros here, and whoever uses them comes to `_constant`, which raises. In a
  graph they are maps of the cotangent that fail unless it is zero.
  """
  if isinstance(function, host_functions.Missing):
    return None
  if tf.executing_eagerly():
    return trees.map_leaves(tf.zeros_like, fixed)
  message = host_functions.no_derivative(function.name)
  return trees.map_leaves(
    lambda x: (
      _broken(message, x, tuple(trees.flatten(cotangent)))
      if is_differentiable(x)
      else None
    ),
    fixed,
  )


def _evaluate_broken(
  message: str, x: tf.Tensor, cotangents: tuple[tf.Tensor, ...]
) -> tf.Tensor:
  """Zeros of the shape of x where all others are; else it raises."""
  if tf.executing_eagerly():
    raise NotImplementedError(message)

  def on_host(x: Any, *cotangents: Any) -> Any:
    if any(onp.any(c) for c in cotangents):
      raise NotImplementedError(message)
    return [onp.zeros_like(x)]

  return _in_graph(on_host, [x, *cotangents], _spec(x))


def _transpose_broken(message: str, args: Any, cotangent: tf.Tensor) -> Any:
  others = args[1]
  return None, tuple(_broken(message, c, (cotangent,)) for c in others)


# Where forward mode transposes it, it fails as well.
_broken = custom_gradient.custom_gradient(
  vjp_fwd=lambda message, *args: (None, args),
  vjp_bwd=_transpose_broken,
  nondiff_argnums=(0,),
)(_evaluate_broken)

# What it is given; its gradient raises.
_constant = custom_gradient.custom_gradient(
  vjp_fwd=lambda message, x: (None, x),
  vjp_bwd=lambda message, x, cotangent: (_broken(message, x, (cotangent,)),),
  nondiff_argnums=(0,),
)(lambda message, x: x)


def _checked(name: str, result: Any, like: Any) -> list[onp.ndarray]:
  """Returns the arrays of a result, which has to be as `like`."""
  own = trees.skeleton(result)
  if repr(own) != repr(trees.skeleton(like)):
    raise TypeError(
      f"{name} returned a structure {_shown(result)}: it must be "
      f"{_shown(like)}, as its rule `abstract` or its arguments say"
    )
  leaves, specs = trees.flatten(result), trees.flatten(like)
  return host_functions.checked(name, leaves, specs)


def _shown(tree: Any) -> str:
  return repr(trees.skeleton(tree)).replace("0", "*")


def _checked_spec(name: str, x: Any) -> host_functions.ArraySpec:
  host_functions.spec_of(name, x)
  return _spec(x)


def _spec(x: Any) -> host_functions.ArraySpec:
  shape = x.shape
  if isinstance(shape, tf.TensorShape):
    if shape.rank is None:
      raise TypeError("a bound function needs arrays whose ranks are known")
    shape = shape.as_list()
  return host_functions.ArraySpec(shape, tf.as_dtype(x.dtype).as_numpy_dtype)


def _tensor(x: Any) -> tf.Tensor:
  """As a tensor; Python numbers are as in NumPy."""
  if tf.is_tensor(x) or isinstance(x, tf.Variable):
    return tf.convert_to_tensor(x)
  return tf.convert_to_tensor(onp.asarray(x))
