"""Native ops of libraries as JAX's.

The op and its derivatives are maps that `multilinear` binds. Derivatives by a
rule in array code are traced where they are asked for; JAX transposes them, and
differentiates them, through the op again where they use its outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal import static_options
from phasic.substrates.jax.internal.native import native_declarations
from phasic.substrates.jax.internal.native import native_libraries
from phasic.substrates.jax.internal.native import native_maps
from phasic.substrates.jax.internal.native import native_shapes


def load(function: native_declarations.NativeFunction) -> None:
  """Loads an op's library, so that all there is to refuse is refused now.

  Raises:
    ImportError: the library was compiled for a newer jaxlib.
    OSError: the library cannot be loaded.
    ValueError: the library lacks the op, or another has one of its name.
  """
  for own in (function.declaration, *function.forward, *function.adjoint):
    symbol = function.handler or f"{native_maps.target(own.name)}_xla"
    handler = native_libraries.symbol(function.library, symbol)
    if handler is None:
      rule = "compile it with -DPHASIC_WITH_XLA and the headers of "
      if function.handler:
        rule = "it must export a handler made with the headers of "
      raise ValueError(
        own.error(
          f"library is {function.library}, which has no handler {symbol}: "
          f"{rule}jax.ffi.include_dir()"
        )
      )
    target = native_maps.target(own.name)
    ffi_targets.register(target, function.library, handler)
    on_gpu = f"{target}_cuda"
    handler = native_libraries.symbol(function.library, on_gpu)
    if handler is not None:
      ffi_targets.register(target, function.library, handler, "CUDA")


def make(
  function: native_declarations.NativeFunction, options: Mapping[str, Any]
) -> Callable[..., Any]:
  """Returns the op as a function of its operands, with all its derivatives.

  Operands are arrays of the declared dtypes, whose batch dimensions are as many
  in each; results are a tuple.

  Args:
    function: the op.
    options: its options, numbers and strings.
  """
  declaration = function.declaration
  if function.handler:
    native_declarations.check_options(declaration, options)
    kept: Any = static_options.freeze(options)
  else:
    kept = native_declarations.options_text(declaration, options)
  own = native_maps.Function(native_maps.ByIdentity(function), kept)

  def call(*operands: Any) -> tuple[Any, ...]:
    arrays = list(operands)
    if function.forward or function.adjoint:
      arrays = _broadcast(declaration, arrays)
    return tuple(multilinear.bind(native_maps.Value(own, 0), own.sort(arrays)))

  call.__name__ = declaration.name
  return call


def jvp(
  function: native_declarations.NativeFunction,
  call: Callable[..., Any],
  operands: Sequence[Any],
  tangents: Sequence[Any],
) -> tuple[Any, ...]:
  """Returns the outputs' tangents, None for those of integers.

  Args:
    function: the op.
    call: what `make` returned.
    operands: its operands.
    tangents: theirs; None for those of integers.

  Raises:
    NotImplementedError: there is no rule.
  """
  of_free, free = _of_free(function, call, operands)
  along = [jnp.asarray(t) for t in tangents if t is not None]
  _, found = jax.jvp(of_free, free, along)
  return _with_none(function.declaration.outputs, found)


def vjp(
  function: native_declarations.NativeFunction,
  call: Callable[..., Any],
  operands: Sequence[Any],
  cotangents: Sequence[Any],
) -> tuple[Any, ...]:
  """Returns the operands' cotangents, None for those of integers.

  Args:
    function: the op.
    call: what `make` returned.
    operands: its operands.
    cotangents: those of the outputs; None for those of integers.

  Raises:
    NotImplementedError: there is no rule.
  """
  of_free, free = _of_free(function, call, operands)
  out, pullback = jax.vjp(of_free, *free)
  pairs = zip(function.declaration.outputs, cotangents, strict=True)
  given = [(own, ct) for own, ct in pairs if own.is_inexact]
  full = []
  for (own, ct), x in zip(given, out, strict=True):
    kinds = (jnp.shape(ct), jnp.result_type(ct)), (x.shape, x.dtype)
    what = f"the cotangent of {own.name}"
    native_shapes.check_direction(function.declaration, what, *kinds)
    full.append(jnp.broadcast_to(jnp.asarray(ct, x.dtype), x.shape))
  return _with_none(function.declaration.inputs, pullback(full))


def shape(x: Any) -> tuple[Any, ...]:
  """Returns the shape of an array, None where a size is not known."""
  return tuple(jnp.shape(x))


def with_rank(x: Any, rank: int) -> Any:
  """Returns an array with ones in front, so that it has `rank` dimensions."""
  missing = rank - jnp.ndim(x)
  return jnp.reshape(x, (1,) * missing + jnp.shape(x)) if missing else x


def _of_free(
  function: native_declarations.NativeFunction,
  call: Callable[..., Any],
  operands: Sequence[Any],
) -> tuple[Callable[..., Any], list[Any]]:
  """The floating outputs as a function of the floating inputs, and these."""
  declaration = function.declaration
  free = [i for i, x in enumerate(declaration.inputs) if x.is_inexact]

  def of_free(*values: Any) -> list[Any]:
    chosen = dict(zip(free, values, strict=True))
    results = call(*[chosen.get(i, x) for i, x in enumerate(operands)])
    pairs = zip(results, declaration.outputs, strict=True)
    return [x for x, own in pairs if own.is_inexact]

  return of_free, [operands[i] for i in free]


def _with_none(
  operands: Sequence[native_declarations.Operand], found: Sequence[Any]
) -> tuple[Any, ...]:
  rest = iter(found)
  return tuple(next(rest) if x.is_inexact else None for x in operands)


def _broadcast(
  declaration: native_declarations.Declaration, arrays: Sequence[Any]
) -> list[Any]:
  """All arrays with the full batch, as derivatives of ops have them."""
  shapes = [x.shape for x in arrays]
  batch = native_shapes.batch_shape(declaration, shapes)
  rank = len(batch)
  return [jnp.broadcast_to(x, (*batch, *x.shape[rank:])) for x in arrays]
