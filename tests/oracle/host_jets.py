"""Derivatives of functions of NumPy arrays, of every order, by dual numbers.

Written for clarity: a reverse-mode product is a sum over all directions. The
functions use +, *, `exp` and `x[i]` of arguments that all are arrays.
"""

from collections.abc import Callable
from typing import Any

import numpy as onp


class Dual:
  """An array and its tangent, which may be dual themselves."""

  __array_ufunc__ = None  # NumPy leaves array * dual to it.

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
  """Returns (args, cotangent) -> f'(args)^T cotangent, vectors all."""

  def rule(args: Any, cotangent: Any) -> Any:
    def contracted(index: list[int], leaf: int, entry: int) -> Any:
      def direction(x: Any) -> Any:
        basis = onp.zeros(shape(x))
        if index[0] == leaf:
          basis[entry] = 1.0
        index[0] += 1
        return _zero_like(x) + basis

      change = jvp(f)(args, tree_map(direction, args))
      terms: list[Any] = []
      tree_map(lambda c, d: terms.append(total(c * d)), cotangent, change)
      return sum(terms[1:], start=terms[0])

    position = [0]

    def gradient(x: Any) -> Any:
      leaf = position[0]
      position[0] += 1
      entries = range(shape(x)[0])
      return stack([contracted([0], leaf, i) for i in entries])

    return tree_map(gradient, args)

  return rule


def _zero_like(x: Any) -> Any:
  if isinstance(x, Dual):
    return Dual(_zero_like(x.value), _zero_like(x.tangent))
  return onp.zeros(onp.shape(x))
