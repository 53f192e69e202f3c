"""Functions with custom derivative rules, as primitives of the tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as onp

from phasic.internal.tape import traced
from phasic.internal.tape import trees

Array = traced.Array
_T = TypeVar("_T")


class Rules(NamedTuple):
  """The derivative rules of a function; None for a rule that is missing."""

  vjp_fwd: Callable[..., tuple[object, object]] | None
  vjp_bwd: Callable[..., object] | None
  jvp_fn: Callable[..., tuple[object, object]] | None
  nondiff_argnums: tuple[int, ...]


def call(
  f: Callable[..., object], rules: Rules, args: Sequence[object]
) -> object:
  """Evaluates `f(*args)` as a primitive with custom derivative rules."""
  parts = [trees.flatten(arg)[0] for arg in args]
  for i in rules.nondiff_argnums:
    if any(
      isinstance(x, traced.Traced) and x.record is not None for x in parts[i]
    ):
      raise TypeError(
        f"{_name(f)} has no derivative with respect to argument {i}: apply "
        "stop_gradient to it"
      )
  leaves, make = trees.flatten(tuple(args))
  primitive = _Ruled(f, rules, make, [len(part) for part in parts])
  results = primitive.evaluate(leaves)
  assert primitive.put_together is not None
  return primitive.put_together(results)


class _Ruled(traced.Primitive[tuple[Array, ...]]):
  """A function with custom rules as a primitive of its arguments' leaves."""

  # Custom rules may support complex numbers, so dtypes are not checked.
  check = staticmethod(lambda x: x)  # type: ignore[assignment]

  def __init__(
    self,
    f: Callable[..., object],
    rules: Rules,
    make: Callable[[Sequence[Array]], tuple[object, ...]],
    sizes: Sequence[int],
  ):
    self.f = f
    self.rules = rules
    self.make = make
    self.owners = [i for i, size in enumerate(sizes) for _ in range(size)]
    self.put_together: Callable[[Sequence[Array]], object] | None = None

  def evaluate(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
    if any(isinstance(x, traced.Traced) for x in arrays):
      return traced.apply(self, *arrays)
    # No array is traced, so call the function itself.
    return self._arrays(self.f(*self.make(arrays)))

  def _arrays(self, result: object) -> tuple[Array, ...]:
    leaves, self.put_together = trees.flatten(result)
    return tuple(leaves)

  def _fixed(self, args: Sequence[_T]) -> list[_T]:
    return [args[i] for i in self.rules.nondiff_argnums]

  def _free(self, args: Sequence[_T]) -> tuple[_T, ...]:
    fixed = self.rules.nondiff_argnums
    return tuple(x for i, x in enumerate(args) if i not in fixed)

  def forward(
    self, arrays: Sequence[Array], tangents: Sequence[Array | None]
  ) -> tuple[tuple[Array, ...], tuple[Array | None, ...]]:
    if self.rules.jvp_fn is None:
      raise NotImplementedError(_missing(self.f, "jvp_fn"))
    args = self.make(arrays)
    along = self.make(
      [
        onp.zeros_like(x) if t is None else t
        for x, t in zip(arrays, tangents, strict=True)
      ]
    )
    result, moved = self.rules.jvp_fn(
      *self._fixed(args), self._free(args), self._free(along)
    )
    # A tangent of None means zeros.
    try:
      tangents_of_results = trees.leaves_like(moved, result)
    except ValueError:
      raise ValueError(
        f"the forward rule of {_name(self.f)} must return tangents in the "
        "structure of its results"
      ) from None
    return self._arrays(result), tuple(tangents_of_results)

  def reverse(
    self, arrays: Sequence[Array], wanted: Sequence[int]
  ) -> tuple[tuple[Array, ...], traced.Pullback]:
    vjp_fwd, vjp_bwd = self.rules.vjp_fwd, self.rules.vjp_bwd
    if vjp_fwd is None or vjp_bwd is None:
      raise NotImplementedError(_missing(self.f, "vjp_fwd and vjp_bwd"))
    args = self.make(arrays)
    result, residuals = vjp_fwd(*args)
    leaves = self._arrays(result)
    put_together = self.put_together
    assert put_together is not None

    def pullback(cotangents: list[Array]) -> Sequence[Array | None]:
      returned = vjp_bwd(
        *self._fixed(args), residuals, put_together(cotangents)
      )
      free = self._free(range(len(args)))
      if not isinstance(returned, (list, tuple)) or len(returned) != len(free):
        raise ValueError(
          f"the reverse rule of {_name(self.f)} must return a tuple with an "
          f"entry for each of {len(free)} arguments"
        )
      by_array: list[Array | None] = [None] * len(arrays)
      for i, cotangent in zip(free, returned, strict=True):
        places = [n for n, owner in enumerate(self.owners) if owner == i]
        # A cotangent of None means zeros.
        zeros = (
          [onp.zeros_like(arrays[n]) for n in places]
          if cotangent is None
          else None
        )
        for n, x in zip(
          places, zeros or trees.flatten(cotangent)[0], strict=True
        ):
          by_array[n] = x
      return [by_array[i] for i in wanted]

    return leaves, pullback


def _missing(f: Callable[..., object], rule: str) -> str:
  """Returns the error message about a rule that was not given."""
  return (
    f"{_name(f)} has no {rule}: it was bound without it, so it has no derivative "
    "of this mode"
  )


def _name(f: Callable[..., object]) -> str:
  return getattr(f, "__name__", repr(f))
