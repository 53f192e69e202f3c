"""Truncated multilinear algebra over matrices, for exact derivatives.

A jet with k generators e_1, ..., e_k (e_i^2 = 0) is a list of 2^k matrices;
part `mask` is the coefficient of the product of the generators whose bits are
set. Arithmetic on x + sum_i v_i e_i carries all mixed derivatives: the part
with all bits set is D^k f(x)[v_1, ..., v_k]. A part that is None is zero.
"""

from typing import Any

Jet = list  # of matrices or None


def constant(a: Any, generators: int) -> Jet:
  return [a] + [None] * (2**generators - 1)


def add(x: Jet, y: Jet) -> Jet:
  return [b if a is None else a if b is None else a + b for a, b in zip(x, y)]


def negative(ring: Any, x: Jet) -> Jet:
  return scale(ring, x, ring.scalar(-1.0))


def scale(ring: Any, x: Jet, factor: Any) -> Jet:
  return [None if a is None else ring.scale(a, factor) for a in x]


def transpose(ring: Any, x: Jet) -> Jet:
  return [None if a is None else ring.transpose(a) for a in x]


def _submasks(mask: int):
  sub = mask
  while True:
    yield sub
    if sub == 0:
      return
    sub = (sub - 1) & mask


def multiply(ring: Any, x: Jet, y: Jet) -> Jet:
  """Multiplies two jets of matrices."""
  result: Jet = []
  for mask in range(len(x)):
    total = None
    for sub in _submasks(mask):
      a, b = x[sub], y[mask ^ sub]
      if a is None or b is None:
        continue
      product = ring.matmul(a, b)
      total = product if total is None else total + product
    result.append(total)
  return result


def multiply_scalar(ring: Any, x: Jet, y: Jet) -> Jet:
  """Multiplies a scalar jet (1 x 1 parts) by a jet of matrices."""
  result: Jet = []
  for mask in range(len(x)):
    total = None
    for sub in _submasks(mask):
      a, b = x[sub], y[mask ^ sub]
      if a is None or b is None:
        continue
      product = ring.scale(b, a[0, 0])
      total = product if total is None else total + product
    result.append(total)
  return result


def _taylor(ring: Any, x: Jet, identity: Jet, terms: int) -> Jet:
  """Computes sum_{k <= terms} x^k / k!, by Paterson and Stockmeyer's scheme."""
  step = max(1, int(terms**0.5))
  powers = [identity, x]
  while len(powers) <= step:
    powers.append(multiply(ring, powers[-1], x))
  inverse_factorials = [ring.scalar(1.0)]
  for k in range(1, terms + step + 1):
    inverse_factorials.append(inverse_factorials[-1] / ring.scalar(float(k)))
  result = None
  for block in range(terms // step, -1, -1):
    if result is not None:
      result = multiply(ring, result, powers[step])
    for k in range(step):
      term = scale(ring, powers[k], inverse_factorials[block * step + k])
      result = term if result is None else add(result, term)
  return result


def exponential(ring: Any, x: Jet, shift: Any) -> Jet:
  """Computes exp(x - shift 1), by scaling, Taylor's series and squaring.

  Args:
    ring: a ring.
    x: a jet of square matrices, best with non-negative parts.
    shift: a non-negative scalar of the ring.

  Returns:
    The jet of the exponential.
  """
  size = ring.shape(x[0])[0]
  unit = [[int(i == j) for j in range(size)] for i in range(size)]
  identity = [ring.matrix(unit)] + [None] * (len(x) - 1)
  # The sum of the parts' norms is submultiplicative in this algebra.
  norm = sum(ring.norm(part) for part in x if part is not None)
  halvings = ring.squarings(max(norm, float(shift)))
  factor = ring.scalar(2.0**-halvings)
  norm *= 2.0**-halvings
  terms = ring.taylor_terms(norm, size)
  result = _taylor(ring, scale(ring, x, factor), identity, terms)
  result = [ring.zeros(size, size) if part is None else part for part in result]
  result = [ring.add_remainder(part, norm, terms) for part in result]
  result = scale(ring, result, ring.exp(-shift * factor))
  for _ in range(halvings):
    result = multiply(ring, result, result)
  return result


def reciprocal(ring: Any, x: Jet, sign: float) -> Jet:
  """Computes 1 / x for scalar jets: exactly for sign -1, by sizes for +1.

  1 / (f + d) = 1/f - d/f^2 + d^2/f^3 - ...; the sizes' version has plus signs.
  """
  inverse = ring.reciprocal(x[0])
  ratio = multiply_scalar(ring, constant(inverse, _generators(x)), x)
  ratio[0] = None
  ratio = scale(ring, ratio, ring.scalar(sign))
  total = constant(ring.matrix([[1]]), _generators(x))
  power = total
  for _ in range(_generators(x)):
    power = multiply(ring, power, ratio)
    total = add(total, power)
  return multiply_scalar(ring, constant(inverse, _generators(x)), total)


def logarithm(ring: Any, x: Jet, sign: float) -> Jet:
  """Computes log x for scalar jets: exactly for sign -1, by sizes for +1."""
  generators = _generators(x)
  inverse = ring.reciprocal(x[0])
  ratio = multiply_scalar(ring, constant(inverse, generators), x)
  ratio[0] = None
  total = constant(ring.log(x[0]), generators)
  power = constant(ring.matrix([[1]]), generators)
  for k in range(1, generators + 1):
    power = multiply(ring, power, ratio)
    coefficient = ring.scalar(sign ** (k - 1)) / ring.scalar(float(k))
    total = add(total, scale(ring, power, coefficient))
  return total


def _generators(x: Jet) -> int:
  return len(x).bit_length() - 1
