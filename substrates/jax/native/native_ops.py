"""Users' native ops in JAX.

The op and its derivatives are maps that `multilinear` binds. Rules in array
code are traced when derivatives are computed. JAX transposes and differentiates
them, through the op again if they use its outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import os

import jax
import jax.numpy as jnp

from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal.arrays import Array
from phasic.substrates.jax.internal.native import native_declarations
from phasic.substrates.jax.internal.native import native_libraries
from phasic.substrates.jax.internal.native import native_maps
from phasic.substrates.jax.internal.native import native_shapes
from phasic.substrates.jax.internal.native import static_options
from phasic.substrates.jax.internal.static import Shape


def declaring_library(
  op: str,
  library: str | os.PathLike[str] | None,
  tf_library: str | os.PathLike[str] | None,
) -> str:
  """Loads the library that has an op's declaration; returns its path."""
  del tf_library  # TensorFlow's alone.
  return native_libraries.load(op, library)


def load(function: native_declarations.NativeFunction) -> None:
  """Loads an op's library and checks it, so that errors are raised early.

  Raises:
    ImportError: the library was compiled for a newer jaxlib.
    OSError: the library cannot be loaded.
    ValueError: the library lacks the op, or another has one of its name.
  """
  for declaration in (
    function.declaration,
    *function.forward,
    *function.adjoint,
  ):
    symbol = function.handler or f"{native_maps.target(declaration.name)}_xla"
    handler = native_libraries.symbol(function.library, symbol)
    if handler is None:
      rule = "compile it with -DPHASIC_WITH_XLA and the headers of "
      if function.handler:
        rule = "it must export a handler made with the headers of "
      raise ValueError(
        declaration.error(
          f"library is {function.library}, which has no handler {symbol}: "
          f"{rule}jax.ffi.include_dir()"
        )
      )
    target = native_maps.target(declaration.name)
    ffi_targets.register(target, function.library, handler)
    on_gpu = f"{target}_cuda"
    handler = native_libraries.symbol(function.library, on_gpu)
    if handler is not None:
      ffi_targets.register(target, function.library, handler, "CUDA")


def make(
  function: native_declarations.NativeFunction, options: Mapping[str, object]
) -> Callable[..., tuple[Array, ...]]:
  """Returns a native op as a differentiable function of its operands."""
  declaration = function.declaration
  if function.handler:
    native_declarations.check_options(declaration, options)
    kept: str | static_options.Options = static_options.freeze(options)
  else:
    kept = native_declarations.options_text(declaration, options)
  op = native_maps.Function(native_maps.ByIdentity(function), kept)

  def call(*operands: Array) -> tuple[Array, ...]:
    arrays = list(operands)
    if function.forward or function.adjoint:
      arrays = _broadcast(declaration, arrays)
    return tuple(multilinear.bind(native_maps.Value(op, 0), op.sort(arrays)))

  call.__name__ = declaration.name
  return call


def shape(x: jax.typing.ArrayLike) -> Shape:
  """Returns an array's shape, with None for unknown sizes."""
  return tuple(jnp.shape(x))


def _broadcast(
  declaration: native_declarations.Declaration, arrays: Sequence[Array]
) -> list[Array]:
  """Broadcasts all arrays to the full batch shape, which native rules need."""
  shapes = [x.shape for x in arrays]
  batch = native_shapes.batch_shape(declaration, shapes)
  rank = len(batch)
  return [jnp.broadcast_to(x, (*batch, *x.shape[rank:])) for x in arrays]
