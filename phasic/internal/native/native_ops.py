"""Native ops of users' libraries, called directly on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import os
from typing import NoReturn

import numpy as onp

from phasic.internal import custom_gradient
from phasic.internal import static
from phasic.internal.native import native_declarations
from phasic.internal.native import native_libraries
from phasic.internal.native import native_rules
from phasic.internal.native import native_shapes


def declaring_library(
  op: str,
  library: str | os.PathLike[str] | None,
  tf_library: str | os.PathLike[str] | None,
) -> str:
  """Loads the library that has an op's declaration; returns its path.

  Args:
    op: the op's name, for messages.
    library: the path of the library for JAX and NumPy; TensorFlow takes None.
    tf_library: the path of the library for TensorFlow, or None.

  Raises:
    FileNotFoundError: there is no such file.
    OSError: it cannot be loaded.
    TypeError: it is not a path.
    ValueError: the file is truncated, or compiled for another framework.
  """
  del tf_library  # TensorFlow's alone.
  return native_libraries.load(op, library)


def load(function: native_declarations.NativeFunction) -> None:
  """Loads an op's library and checks it, so that errors are raised early.

  Raises:
    NotImplementedError: the op is not for this substrate.
    OSError: the library cannot be loaded.
    ValueError: the library lacks the op, or another has one of its name.
  """
  if function.handler:
    raise NotImplementedError(
      f"op {function.declaration.name} is an XLA handler, which only JAX can "
      "call: NumPy needs an op made by PHASIC_OP"
    )
  for declaration in (
    function.declaration,
    *function.forward,
    *function.adjoint,
  ):
    native_libraries.entry(function.library, declaration)


def make(
  function: native_declarations.NativeFunction, options: Mapping[str, object]
) -> Callable[..., tuple[onp.ndarray, ...]]:
  """Returns a native op as a differentiable function of its operands.

  Operands are arrays of the declared dtypes, with equal numbers of batch
  dimensions; results are a tuple.

  Args:
    function: the op.
    options: its options, numbers and strings.
  """
  declaration = function.declaration
  text = native_declarations.options_text(declaration, options)
  rules = _Rules(function, text)

  def call(*operands: onp.ndarray) -> tuple[onp.ndarray, ...]:
    return rules.call(declaration, operands)

  call.__name__ = declaration.name
  forward, reverse = rules.jvp, lambda *x: (out := call(*x), (x, out))
  if not _has_forward(function):
    forward = _missing(declaration, "forward", "jvp", "forward")
  if not _has_reverse(function):
    reverse = _missing(declaration, "reverse", "vjp", "adjoint")
  return custom_gradient.custom_gradient(reverse, rules.vjp, forward)(call)


def shape(x: onp.typing.ArrayLike) -> static.Shape:
  """Returns an array's shape, with None for unknown sizes."""
  return tuple(onp.shape(x))


def _has_forward(function: native_declarations.NativeFunction) -> bool:
  return function.jvp is not None or bool(function.forward)


def _has_reverse(function: native_declarations.NativeFunction) -> bool:
  """Returns whether the op has a reverse rule or can derive it from `jvp`."""
  elementwise = function.jvp is not None and function.declaration.is_elementwise
  return function.vjp is not None or bool(function.adjoint) or elementwise


def _missing(
  declaration: native_declarations.Declaration,
  mode: str,
  rule: str,
  alternative: str,
) -> Callable[..., NoReturn]:
  """Returns a rule that raises, in place of a missing derivative rule."""

  def refuse(*args: object) -> NoReturn:
    raise NotImplementedError(
      declaration.error(
        f"it was bound without a {mode} rule, which NumPy needs for {rule}: give "
        f"bind_native {rule} or {alternative}"
      )
    )

  return refuse


class _Rules:
  """Calls a native op, and computes its derivatives by its rules."""

  def __init__(
    self, function: native_declarations.NativeFunction, options: str
  ):
    self._function = function
    self._options = options

  def call(
    self,
    declaration: native_declarations.Declaration,
    operands: Sequence[object],
  ) -> tuple[onp.ndarray, ...]:
    """Calls one of the op's native functions on host arrays."""
    arrays = [native_libraries.plain(x) for x in operands]
    results = [
      onp.empty(shape, dtype)
      for shape, dtype in native_shapes.output_types(
        self._function, arrays, declaration
      )
    ]
    problem = native_libraries.run(
      self._function.library, declaration, arrays, results, self._options
    )
    if problem:
      raise RuntimeError(problem)
    return tuple(results)

  def jvp(
    self,
    primals: Sequence[onp.ndarray],
    tangents: Sequence[onp.ndarray | None],
  ) -> tuple[tuple[onp.ndarray, ...], tuple[onp.ndarray | None, ...]]:
    """Computes the results and their tangents; integers have tangent None."""
    function = self._function
    out = self.call(function.declaration, primals)
    if function.forward:
      first = function.forward[0]
      inputs = function.declaration.inputs
      floats = native_declarations.inexact(inputs, tangents)
      along = [t for _, t in floats if t is not None]
      derivatives: Sequence[onp.ndarray] = self.call(
        first, _broadcast(function, [*primals, *along])
      )
    else:
      derivatives = self._derivatives(primals, out, tangents)
    return out, native_declarations.spread(
      function.declaration.outputs, derivatives
    )

  def _derivatives(
    self,
    primals: Sequence[onp.ndarray],
    out: Sequence[onp.ndarray],
    tangents: Sequence[onp.ndarray | None],
  ) -> list[onp.ndarray]:
    """Computes tangents of the floating results by the user's rule.

    They are broadcast to the shapes of the results.
    """
    declaration, rule = self._function.declaration, self._function.jvp
    assert rule is not None
    returned = rule(primals, out, tuple(tangents))
    entries = native_rules.check_rule(declaration, "jvp", returned)
    floats = native_declarations.inexact(declaration.outputs, out)
    return [
      onp.broadcast_to(
        self._checked("jvp", operand, t, (x.shape, x.dtype)), x.shape
      )
      for (operand, x), t in zip(floats, entries, strict=True)
    ]

  def _checked(
    self,
    rule: str,
    operand: native_declarations.Operand,
    value: object,
    like: tuple[Sequence[int] | None, onp.dtype],
  ) -> onp.ndarray:
    declaration = self._function.declaration
    return native_rules.checked(onp, declaration, rule, operand, value, like)

  def vjp(
    self,
    residuals: tuple[Sequence[onp.ndarray], Sequence[onp.ndarray]],
    cotangents: Sequence[onp.ndarray | None],
  ) -> tuple[onp.ndarray | None, ...]:
    """Computes cotangents of the operands, None for integer operands."""
    function = self._function
    primals, out = residuals
    declaration = function.declaration
    arrays = [*map(onp.asarray, primals)]
    floats = native_declarations.inexact(declaration.inputs, arrays)
    triples = zip(declaration.outputs, cotangents, out, strict=True)
    cotangents = [
      onp.asarray(ct, x.dtype) if operand.is_inexact else None
      for operand, ct, x in triples
    ]
    if function.adjoint:
      wanted = [ct for ct in cotangents if ct is not None]
      arrays = _broadcast(function, [*primals, *wanted])
      products: Sequence[onp.ndarray | int]
      products = self.call(function.adjoint[0], arrays)
    elif function.vjp is not None:
      returned = function.vjp(primals, out, tuple(cotangents))
      entries = native_rules.check_rule(declaration, "vjp", returned)
      shapes = native_shapes.cotangent_shapes(
        declaration, [*map(onp.shape, primals)]
      )
      products = [
        self._checked("vjp", operand, ct, (full, x.dtype))
        for (operand, x), ct, full in zip(floats, entries, shapes, strict=True)
      ]
    else:
      products = self._elementwise_vjp(primals, out, cotangents)
    summed = [
      native_shapes.summed(onp, ct, x.shape)
      for (_, x), ct in zip(floats, products, strict=True)
    ]
    return native_declarations.spread(declaration.inputs, summed)

  def _elementwise_vjp(
    self,
    primals: Sequence[onp.ndarray],
    out: Sequence[onp.ndarray],
    cotangents: Sequence[onp.ndarray | None],
  ) -> list[onp.ndarray | int]:
    """Computes cotangents of an elementwise op from its forward rule."""
    function = self._function
    inputs = function.declaration.inputs
    products = []
    for i, operand in enumerate(inputs):
      if not operand.is_inexact:
        continue
      unit = tuple(
        onp.full(onp.shape(x), float(i == j), onp.asarray(x).dtype)
        if other.is_inexact
        else None
        for j, (other, x) in enumerate(zip(inputs, primals, strict=True))
      )
      derivatives = self._derivatives(primals, out, unit)
      float_cotangents = [ct for ct in cotangents if ct is not None]
      products.append(
        sum(ct * t for ct, t in zip(float_cotangents, derivatives, strict=True))
      )
    return products


def _broadcast(
  function: native_declarations.NativeFunction, arrays: Sequence[onp.ndarray]
) -> list[onp.ndarray]:
  """Broadcasts all arrays to the full batch shape, which native rules need."""
  inputs = function.declaration.inputs
  batch = native_shapes.batch_shape(
    function.declaration, [onp.shape(x) for x in arrays[: len(inputs)]]
  )
  rank = len(batch)
  return [onp.broadcast_to(x, (*batch, *onp.shape(x)[rank:])) for x in arrays]
