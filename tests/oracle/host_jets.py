"""Derivatives of functions of NumPy arrays, of every order, by dual numbers.

Written for clarity: a reverse-mode product is a sum over all directions. The
functions use +, *, `exp` and `x[i]` of arguments that all are arrays.
"""

from collections.abc import Callable
import itertools
from typing import Any

import numpy as onp


class Dual:
  """An array and its tangent, which may be dual themselves."""

  __array_ufunc__ = None  # NumPy then defers array * dual to this class.

  def __init__(self, value: Any, tangent: Any):
    self.value = value
    self.tangent = tangent

  def __getitem__(self, index: Any) -> "Dual":
    return Dual(self.value[index], self.tangent[index])

  def __add__(self, other: Any) -> "Dual":
    if isinstance(other, Dual):
      return Dual(self.value + other.value, self.tangent + other.tangent)
    return Dual(self.value + other, self.tangent + 0.0 * other)

  def __mul__(self, other: Any) -> "Dual":
    if isinstance(other, Dual):
      tangent = self.tangent * other.value + self.value * other.tangent
      return Dual(self.value * other.value, tangent)
    return Dual(self.value * other, self.tangent * other)

  __radd__ = __add__
  __rmul__ = __mul__


def exp(x: Any) -> Any:
  """Returns e^x of an array or a dual."""
  if isinstance(x, Dual):
    value = exp(x.value)
    return Dual(value, value * x.tangent)
  return onp.exp(x)


def total(x: Any) -> Any:
  """Returns the sum of the entries."""
  if isinstance(x, Dual):
    return Dual(total(x.value), total(x.tangent))
  return onp.sum(x)


def stack(entries: list[Any]) -> Any:
  """Returns a vector of numbers."""
  if isinstance(entries[0], Dual):
    return Dual(
      stack([x.value for x in entries]), stack([x.tangent for x in entries])
    )
  return onp.stack(entries)


def reshape(x: Any, sizes: tuple[int, ...]) -> Any:
  """Returns the entries in another shape."""
  if isinstance(x, Dual):
    return Dual(reshape(x.value, sizes), reshape(x.tangent, sizes))
  return onp.reshape(x, sizes)


def shape(x: Any) -> tuple[int, ...]:
  """Returns the shape of an array or a dual."""
  return shape(x.value) if isinstance(x, Dual) else onp.shape(x)


def tree_map(f: Callable[..., Any], *trees: Any) -> Any:
  """Returns `f` of the leaves of nested tuples."""
  if isinstance(trees[0], tuple):
    return tuple(tree_map(f, *xs) for xs in zip(*trees, strict=True))
  return f(*trees)


def jvp(f: Callable[..., Any]) -> Callable[..., Any]:
  """Returns (args, tangents) -> f'(args) tangents."""

  def rule(args: Any, tangents: Any) -> Any:
    return tree_map(lambda x: x.tangent, f(*tree_map(Dual, args, tangents)))

  return rule


def vjp(f: Callable[..., Any]) -> Callable[..., Any]:
  """Returns (args, cotangent) -> f'(args)^T cotangent."""

  def rule(args: Any, cotangent: Any) -> Any:
    def contracted(leaf: int, entry: tuple[int, ...]) -> Any:
      position = iter(range(leaf + 1))

      def direction(x: Any) -> Any:
        basis = onp.zeros(shape(x))
        if next(position, None) == leaf:
          basis[entry] = 1.0
        return _zero_like(x) + basis

      change = jvp(f)(args, tree_map(direction, args))
      terms: list[Any] = []
      tree_map(lambda c, d: terms.append(total(c * d)), cotangent, change)
      return sum(terms[1:], start=terms[0])

    leaves = itertools.count()

    def gradient(x: Any) -> Any:
      leaf = next(leaves)
      entries = onp.ndindex(shape(x))
      return reshape(stack([contracted(leaf, i) for i in entries]), shape(x))

    return tree_map(gradient, args)

  return rule


def bound(
  bind: Callable[..., Any],
  f: Callable[..., Any],
  order: int,
  name: str,
  abstract: Callable[..., Any] | None = None,
) -> Any:
  """Returns a function bound with rules that have rules, up to an order."""
  if order == 0:
    return bind(f, name=name, abstract=abstract)
  along = back = None
  if abstract is not None:
    along = lambda args, tangents: abstract(*args)
    back = lambda args, cotangent: args
  return bind(
    f,
    jvp=bound(bind, jvp(f), order - 1, f"jvp of {name}", along),
    vjp=bound(bind, vjp(f), order - 1, f"vjp of {name}", back),
    abstract=abstract,
    name=name,
  )


def _zero_like(x: Any) -> Any:
  if isinstance(x, Dual):
    return Dual(_zero_like(x.value), _zero_like(x.tangent))
  return onp.zeros(onp.shape(x))
