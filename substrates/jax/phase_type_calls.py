"""Calls of the native phase-type kernel with JAX arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import derivatives
from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal import kernel_common
from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal import phase_type_maps
from phasic.substrates.jax.internal.arrays import Array, ArrayLike

_DTYPES = {onp.dtype("float32"), onp.dtype("float64")}

_T = TypeVar("_T")


def _computes_on_cpus() -> bool:
  """Returns whether JAX's default device is a CPU."""
  device = jax.config.jax_default_device  # type: ignore[attr-defined]
  if device is None:
    return jax.default_backend() == "cpu"
  return getattr(device, "platform", device) == "cpu"


KERNEL = kernel_common.Kernel(
  lambda: ffi_targets.load()[1], 45, _computes_on_cpus
)


def portable(
  kind: str,
  operands: Sequence[object],
  fallback: Callable[..., _T],
  fixed: Sequence[object],
) -> _T:
  """Computes a phase-type function by the portable code `fallback`."""
  return fallback(kind, *operands, *fixed)


def forward(
  kind: str,
  groups: Sequence[Sequence[Array]],
  fallback: Callable[..., Array],
  fixed: Sequence[ArrayLike],
  discrete: bool,
) -> Array:
  """Computes the k-th directional derivative of a phase-type function."""
  operands, *tangents = groups
  arrays, flags = _checked(operands, fixed)
  function = _function(kind, fallback, *flags, discrete)
  op = _forward(function, len(tangents))
  return multilinear.bind(op, arrays, tangents)[0]


def adjoint(
  kind: str,
  operands: Sequence[ArrayLike],
  cotangent: Array,
  wanted: Sequence[int],
  fallback: Callable[..., Array],
  fixed: Sequence[ArrayLike],
  discrete: bool,
) -> Sequence[Array]:
  """Computes the cotangents of the operands whose indices are in `wanted`."""
  arrays, flags = _checked(operands, fixed)
  function = _function(kind, fallback, *flags, discrete)
  flags_of_wanted = tuple(i in wanted for i in range(len(operands)))
  op = derivatives.Adjoint(function, 1, 0, flags_of_wanted)
  results = multilinear.bind(op, arrays, [[cotangent]])
  return [results[i] for i in wanted]


def quantiles(
  form: str,
  operands: Sequence[ArrayLike],
  fallback: Callable[..., tuple[Array, ...]],
  edges: Sequence[ArrayLike],
  discrete: bool,
) -> tuple[Array, ...]:
  """Computes `kernel_ops.quantiles` by the kernel, without derivatives."""
  arrays, (has_edges, _) = _checked(operands, edges)
  op = phase_type_maps.Quantiles(form, fallback, has_edges, discrete)
  return tuple(multilinear.bind(op, arrays))


def statistics(
  kind: str,
  operands: Sequence[ArrayLike],
  weights: ArrayLike,
  fallback: Callable[..., tuple[Array, ...]],
  fixed: Sequence[ArrayLike],
) -> Sequence[Array]:
  """Computes expected path statistics by the kernel, without derivatives."""
  arrays, flags = _checked(operands, fixed)
  function = phase_type_maps.PhaseTypeFunction(kind, fallback, *flags)
  op = phase_type_maps.Statistics(function, 1)
  weights = jnp.asarray(weights, arrays[-1].dtype)
  return multilinear.bind(op, arrays, [[weights]])


def _checked(
  operands: Sequence[ArrayLike], fixed: Sequence[ArrayLike]
) -> tuple[list[Array], tuple[bool, bool]]:
  """Checks dtypes; returns the arrays and (has edges, has kinds)."""
  inputs = [*fixed, *operands]
  arrays = [x if isinstance(x, jax.Array) else jnp.asarray(x) for x in inputs]
  edges, kinds = None, None
  if fixed:
    edges, kinds = kernel_common.edges_and_kinds(arrays[: len(fixed)])
  numbers = [*(edges or ())[1:], *arrays[len(fixed) :]]
  dtypes = {x.dtype for x in numbers}
  if len(dtypes) > 1 or not dtypes <= _DTYPES:
    names = [x.dtype.name for x in arrays[len(fixed) :]]
    raise TypeError(
      f"operands have dtypes {names}: all must be float32 or all float64"
    )
  if edges and edges[0].dtype != onp.int32:
    raise TypeError(
      f"indices of edges have dtype {edges[0].dtype}: it must be int32"
    )
  if kinds is not None and kinds.dtype != onp.int32:
    raise TypeError(f"kinds have dtype {kinds.dtype}: it must be int32")
  return arrays, (edges is not None, kinds is not None)


_function = functools.cache(phase_type_maps.PhaseTypeFunction)
_forward = functools.cache(derivatives.Forward)
