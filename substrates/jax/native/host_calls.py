"""Calls of users' Python functions on NumPy arrays by JAX.

With concrete arguments a call is a plain call. Otherwise it is a map, see
`host_map`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import functools
from typing import TypeAlias, TypeVar

import jax
import jax.core
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal.arrays import Shaped, Tree, TreeDef
from phasic.substrates.jax.internal.native import host_functions
from phasic.substrates.jax.internal.native import host_map
from phasic.substrates.jax.internal.native import host_results
from phasic.substrates.jax.internal.native import static_options

_T = TypeVar("_T")
# The specs of a result's leaves, and its pytree structure.
_ResultType: TypeAlias = tuple[tuple[host_results.ArraySpec, ...], TreeDef]


def arrays(name: str, tree: _T) -> _T:
  """Converts the leaves of arguments to arrays of the backend."""
  return tree


def call(
  function: host_functions.HostFunction,
  abstract: Callable[..., object] | None,
  args: Sequence[object],
  options: Mapping[str, object],
) -> Tree:
  """Calls a Python function that has no derivatives."""
  return call_multilinear([function], abstract, args, (), options)


def call_multilinear(
  functions: host_functions.Functions,
  abstract: Callable[..., object] | None,
  fixed: Sequence[object],
  args: Sequence[object],
  options: Mapping[str, object],
) -> Tree:
  """Calls a Python function that is linear in each of its arguments."""
  function = functions[0]
  assert isinstance(function, host_functions.HostFunction)
  fixed, args = jax.tree.map(_without_float0, (tuple(fixed), tuple(args)))
  leaves = jax.tree.leaves((fixed, args))
  statics = static_options.freeze(options)
  if not any(isinstance(x, jax.core.Tracer) for x in leaves):
    return _directly(function, abstract, (*fixed, *args), statics)
  fixed, args = jax.tree.map(jnp.asarray, (fixed, args))
  primals, fixed_tree = jax.tree.flatten(fixed)
  flat = [jax.tree.flatten(arg) for arg in args]
  slots = [leaves for leaves, _ in flat]
  specs, tree = _result(function, abstract, (*fixed, *args), statics)
  op = host_map.HostCall(
    tuple(functions),
    statics,
    fixed_tree,
    tuple(tree for _, tree in flat),
    tuple(tuple(map(_spec, slot)) for slot in slots),
    tree,
    specs,
  )
  return jax.tree.unflatten(tree, multilinear.bind(op, primals, slots))


def result_like(
  function: host_functions.HostFunction,
  abstract: Callable[..., object] | None,
  args: Sequence[object],
  options: Mapping[str, object],
) -> Tree:
  """Returns the specs of a function's result.

  Arguments are as in `call`.
  """
  statics = static_options.freeze(options)
  specs, tree = _result(function, abstract, tuple(args), statics)
  return jax.tree.unflatten(tree, specs)


def is_differentiable(x: object) -> bool:
  """Returns whether an array or its spec is floating or complex."""
  x_dtype = getattr(x, "dtype", None)
  dtype = onp.asarray(x).dtype if x_dtype is None else x_dtype
  return jnp.issubdtype(dtype, jnp.inexact)


def forward_rule(
  f: Callable[..., _T],
) -> Callable[..., tuple[_T, tuple[object, ...]]]:
  """Returns a forward rule `vjp_fwd` whose residuals are the arguments."""
  return lambda *args: (f(*args), args)


def conjugated(tree: _T) -> _T:
  """Converts cotangents to JAX's convention: returns them unchanged."""
  return tree


def no_cotangent(x: object) -> object:
  """Returns the backend's cotangent for an argument without derivative."""
  return None


def _directly(
  function: host_functions.HostFunction,
  abstract: Callable[..., object] | None,
  args: tuple[object, ...],
  options: static_options.Options,
) -> Tree:
  """Calls a function on concrete values; exceptions reach the caller."""
  arrays = jax.tree.map(_host_array, args)
  keywords = static_options.thaw(options)
  result = function.f(*arrays, **keywords)
  if abstract is not None:
    specs, tree = _result(function, abstract, arrays, options)
    leaves = host_map.flattened(function.name, result, tree)
    canonical = jax.dtypes.canonicalize_dtype
    checked = host_results.checked(function.name, leaves, specs, canonical)
    result = jax.tree.unflatten(tree, checked)
  # Copy the results, as the user's function may keep and change them.
  name = function.name
  return jax.tree.map(
    lambda x: jax.device_put(onp.array(host_results.array_of(name, x))),
    result,
  )


def _result(
  function: host_functions.HostFunction,
  abstract: Callable[..., object] | None,
  args: tuple[object, ...],
  options: static_options.Options,
) -> _ResultType:
  """Returns the specs and the tree of a function's result."""
  leaves, tree = jax.tree.flatten(args)
  specs = tuple(map(_spec, leaves))
  wide = jax.dtypes.canonicalize_dtype("float64").name
  make = function.keeping(_made_result)
  return make(function, abstract, tree, specs, options, wide)


def _made_result(
  function: host_functions.HostFunction,
  abstract: Callable[..., object] | None,
  tree: TreeDef,
  specs: tuple[host_results.ArraySpec, ...],
  options: static_options.Options,
  wide: str,
) -> _ResultType:
  del wide  # Only a part of the cache key.
  name, keywords = function.name, static_options.thaw(options)
  if abstract is not None:
    result = abstract(*jax.tree.unflatten(tree, specs), **keywords)
  else:
    if any(not isinstance(size, int) for s in specs for size in s.shape):
      raise TypeError(host_functions.unknown_sizes(name))
    zeros = [onp.zeros(s.shape, s.dtype) for s in specs]
    args = jax.tree.unflatten(tree, zeros)
    result = host_results.result_of_zeros(name, function.f, args, keywords)
    result = jax.tree.map(
      functools.partial(host_results.array_of, name), result
    )
  leaves, out_tree = jax.tree.flatten(result)
  result_specs = [host_results.spec_of(name, x) for x in leaves]
  return tuple(map(_spec, result_specs)), out_tree


def _spec(x: Shaped) -> host_results.ArraySpec:
  dtype = jax.dtypes.canonicalize_dtype(x.dtype)
  return host_results.ArraySpec(x.shape, dtype)


def _host_array(x: onp.typing.ArrayLike) -> onp.ndarray:
  """Copies an array for a user's function, with JAX's dtype."""
  array = onp.asarray(x)
  return onp.array(array, jax.dtypes.canonicalize_dtype(array.dtype))


def _without_float0(x: _T) -> _T | None:
  """Replaces float0 tangents, which integers have, by None."""
  return None if getattr(x, "dtype", None) == jax.dtypes.float0 else x
