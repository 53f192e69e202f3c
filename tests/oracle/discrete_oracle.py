"""Discrete phase-type functions and their derivatives in rational arithmetic.

The kinds at a count k, with T the transition matrix, t the exits, p_0 the
atom:

  density   f(0) = p_0, f(k) = alpha T^(k-1) t
  survival  sf(k) = alpha T^k 1
  cdf       F(k) = p_0 + sum_{j<k} alpha T^j t
  interval  f(l + 1) + ... + f(u), at a pair of counts

and their logs. Numbers are polynomials in eps_1, .., eps_m with eps_i^2 = 0,
one for each direction, with fractions as coefficients: the coefficient of
eps_1 .. eps_m is the derivative along all, with no error but the last rounding.

The error scale of a derivative is the same formula with every difference turned
into a sum: directions are replaced by their sizes, and in t = 1 - T 1,
p_0 = 1 - alpha 1 and the derivatives of the logarithm tangents are added.
"""

from fractions import Fraction
import math
from typing import Any, NamedTuple

import flint
import numpy as onp

KINDS = (
  "log_density",
  "density",
  "log_survival",
  "survival",
  "log_cdf",
  "cdf",
)

Number = list[Fraction]


class Operands(NamedTuple):
  """A model, or a direction in its space; None for derived arrays."""

  initial_probs: Any
  transitions: Any
  exit_probs: Any = None
  prob_zero: Any = None


def _times(a: Number, b: Number) -> Number:
  """Multiplies polynomials in eps."""
  result = [0 * a[0]] * len(a)
  for i, x in enumerate(a):
    if x != 0:
      for j, y in enumerate(b):
        if y != 0 and not i & j:
          result[i | j] += x * y
  return result


def _plus(a: Number, b: Number) -> Number:
  return [x + y for x, y in zip(a, b, strict=True)]


def _total(numbers: list[Number]) -> Number:
  result = [Fraction(0)] * len(numbers[0])
  for x in numbers:
    result = _plus(result, x)
  return result


def _dot(a: list[Number], b: list[Number]) -> Number:
  return _total([_times(x, y) for x, y in zip(a, b, strict=True)])


def _rest(parts: list[Number], sizes: bool) -> Number:
  """Computes 1 - sum(parts); with sizes, tangents are added."""
  total = _total(parts)
  tangents = total[1:] if sizes else [-x for x in total[1:]]
  return [1 - total[0], *tangents]


class _Chain(NamedTuple):
  alpha: list[Number]
  matrix: list[list[Number]]
  exits: list[Number]
  atom: Number


def _chain(model: Operands, directions, sizes: bool) -> _Chain:
  def number(name: str, index: Any) -> Number:
    result = [Fraction(0)] * 2 ** len(directions)
    result[0] = Fraction(float(onp.asarray(getattr(model, name))[index]))
    for i, v in enumerate(directions):
      along = Fraction(float(onp.asarray(getattr(v, name))[index]))
      result[2**i] = abs(along) if sizes else along
    return result

  p = len(model.initial_probs)
  alpha = [number("initial_probs", i) for i in range(p)]
  matrix = [[number("transitions", (i, j)) for j in range(p)] for i in range(p)]
  if model.exit_probs is None:
    exits = [_rest(row, sizes) for row in matrix]
  else:
    exits = [number("exit_probs", i) for i in range(p)]
  if model.prob_zero is None:
    atom = _rest(alpha, sizes)
  else:
    atom = number("prob_zero", ())
  return _Chain(alpha, matrix, exits, atom)


def _plain(kind: str, chain: _Chain, count: Any) -> Number:
  """Computes the function without a logarithm."""
  if kind == "interval":
    lower, upper = count
    return _total(
      [_plain("density", chain, k) for k in range(lower + 1, upper + 1)]
    )
  if kind == "density" and count == 0:
    return chain.atom
  columns = list(zip(*chain.matrix, strict=True))
  state, absorbed = chain.alpha, chain.atom
  for _ in range(count - 1 if kind == "density" else count):
    absorbed = _plus(absorbed, _dot(state, chain.exits))
    state = [_dot(state, list(column)) for column in columns]
  if kind == "density":
    return _dot(state, chain.exits)
  return _total(state) if kind == "survival" else absorbed


def logarithm(x: Fraction) -> float:
  """Computes log(x), -inf at zero, correctly rounded."""
  if x == 0:
    return -math.inf
  shift = x.numerator.bit_length() - x.denominator.bit_length()
  mantissa = x / Fraction(2) ** shift
  # log1p where x is near one: there the exponent is zero.
  near = float(mantissa - 1)
  if shift in (0, -1) and abs(float(x - 1)) < 0.25:
    return math.log1p(float(x - 1))
  return math.log1p(near) + shift * math.log(2)


def directional(
  kind: str,
  model: Operands,
  count: Any,
  directions: tuple[Operands, ...] = (),
) -> tuple[float, float]:
  """Computes D^m F(x)[v_1, .., v_m] and its error scale; m = 0 is the value.

  Args:
    kind: one of `KINDS`, or an interval's.
    model: x.
    count: k, a whole number from zero on; of an interval l < u.
    directions: tangents of the model, None where it has None.
  """
  return tuple(
    _directional(kind, model, count, directions, sizes)
    for sizes in (False, True)
  )


def _directional(kind, model, count, directions, sizes) -> float:
  chain = _chain(model, directions, sizes)
  f = _plain(kind.removeprefix("log_"), chain, count)
  if not kind.startswith("log_"):
    return float(f[-1])
  if not directions:
    return logarithm(f[0])
  return float(_log_derivative(f, sizes))


def _log_derivative(f, sizes: bool):
  """Computes the coefficient of all eps in log(f)."""
  # log(f_0 + n) = log f_0 + n / f_0 - n^2 / (2 f_0^2) + ...
  ratio = [0 * f[0], *(x / f[0] for x in f[1:])]
  result, power, sign = 0 * f[0], ratio, 1
  for j in range(1, len(f).bit_length()):
    result += sign * power[-1] / j
    power = _times(power, ratio)
    sign = 1 if sizes else -sign
  return result


def far_directional(
  kind: str,
  model: Operands,
  count: Any,
  directions: tuple[Operands, ...] = (),
) -> tuple[flint.arb, flint.arb]:
  """Computes `directional` at large counts, by repeated squaring of balls."""
  with flint.ctx.workprec(2000):
    return tuple(
      _far_directional(kind, _chain(model, directions, sizes), count, sizes)
      for sizes in (False, True)
    )


def _far_directional(kind, chain: _Chain, count, sizes: bool) -> flint.arb:
  name = kind.removeprefix("log_")
  if name == "interval":
    lower, upper = (_far_plain("cdf", chain, k) for k in count)
    f = [x - y for x, y in zip(upper, lower, strict=True)]
  else:
    f = _far_plain(name, chain, count)
  if not kind.startswith("log_"):
    return f[-1]
  return f[0].log() if len(f) == 1 else _log_derivative(f, sizes)


def _far_plain(name: str, chain: _Chain, count: int) -> list[flint.arb]:
  p, size = len(chain.alpha), len(chain.atom)
  nothing = [Fraction(0)] * size

  def balls(x: Number) -> list[flint.arb]:
    return [flint.arb(flint.fmpq(*c.as_integer_ratio())) for c in x]

  def rows(numbers: list[Number]) -> list[list[flint.arb]]:
    """Represents polynomials in eps as blocks of a matrix."""
    coefficients = [balls(x) for x in numbers]
    return [
      [
        c[k ^ i] if k & i == i else flint.arb(0)
        for c in coefficients
        for k in range(size)
      ]
      for i in range(size)
    ]

  # Absorption is one more state, with the atom as initial mass.
  one = [Fraction(1), *nothing[1:]]
  matrix = []
  for row, exit in zip(chain.matrix, chain.exits, strict=True):
    matrix += rows([*row, exit])
  power = flint.arb_mat(matrix + rows([nothing] * p + [one]))
  state = flint.arb_mat(rows([*chain.alpha, chain.atom])[:1])
  steps = count - 1 if name == "density" else count
  while steps:
    if steps & 1:
      state = state * power
    power, steps = power * power, steps >> 1
  parts = [[state[0, i * size + k] for k in range(size)] for i in range(p + 1)]
  if name == "cdf":
    return parts[p]
  weights = [balls(x) for x in chain.exits] if name == "density" else None
  if weights is None:
    return _total_of_balls(parts[:p])
  return _total_of_balls(
    [_times(x, w) for x, w in zip(parts[:p], weights, strict=True)]
  )


def _total_of_balls(numbers: list[list[flint.arb]]) -> list[flint.arb]:
  return [sum(x, flint.arb(0)) for x in zip(*numbers, strict=True)]


def basis(model: Operands) -> Operands:
  """Returns the unit directions of the entries of each operand, in order."""

  def units(name: str) -> list[Operands] | None:
    value = getattr(model, name)
    if value is None:
      return None
    zeros = Operands(
      *(None if x is None else onp.zeros(onp.shape(x)) for x in model)
    )
    result = []
    for index in onp.ndindex(*onp.shape(value)):
      unit = onp.zeros(onp.shape(value))
      unit[index] = 1.0
      result.append(zeros._replace(**{name: unit}))
    return result

  return Operands(*(units(name) for name in Operands._fields))
