"""Binds native functions in compiled libraries as differentiable ops."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
import functools
import os

import numpy as np
import numpy as onp

from phasic import include
from phasic.binding import arguments
from phasic.binding import native_products
from phasic.binding import operands
from phasic.internal import dtypes
from phasic.internal import native_files
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import Array, ArrayLike, Result, Tree
from phasic.internal.native import native_checks
from phasic.internal.native import native_declarations
from phasic.internal.native import native_libraries
from phasic.internal.native import native_ops
from phasic.internal.native import native_rules
from phasic.internal.native import native_shapes
from phasic.internal.native import static_options


def include_dir() -> str:
  """Returns the folder that contains the C++ headers, e.g. `phasic/op.h`.

  Example:

    >>> import os
    >>> from phasic import binding
    >>> os.path.exists(os.path.join(binding.include_dir(), "phasic", "op.h"))
    True
  """
  return next(iter(include.__path__))


def bind_native(
  library: str | os.PathLike[str] | None,
  name: str,
  *,
  jvp: Callable[..., object] | None = None,
  vjp: Callable[..., object] | None = None,
  forward: Sequence[str] = (),
  adjoint: Sequence[str] = (),
  sizes: Mapping[str, Callable[..., int]] | None = None,
  portable: Callable[..., object] | None = None,
  tf_library: str | os.PathLike[str] | None = None,
  declaration: str | None = None,
  handler: str | None = None,
) -> NativeOp:
  """Makes a differentiable op from a native function in a compiled library.

  The function is made with the macro PHASIC_OP(name, function, declaration) of
  the header `phasic/op.h` in `include_dir()`. The declaration names operands
  and their dimensions,

      weights(n), indices: int32(m) -> sums(m), total()

  where operands without a type are float32 or float64, all the same one. Names
  behind a semicolon, `...; tolerance, method`, are names of options. Inputs
  may have further dimensions in front, a batch, which broadcast as in NumPy:
  the native function runs over the examples, nothing is copied.

  Derivatives come from a rule in array code,

      jvp(inputs, outputs, tangents)    a tuple, the tangents of the outputs
      vjp(inputs, outputs, cotangents)  a tuple, the cotangents of the inputs

  or from native functions of the same library. A rule is written for arrays
  with any batch dimensions; it may use the op and its `outputs`, and then there
  are derivatives of every order. Integers have None in the place of tangents
  and cotangents, and stay constant. One rule is enough, but in NumPy, where
  each mode needs its own unless all operands are single numbers. Native
  derivatives are

      J_k(x; v_1, ..., v_k)          = D^k f(x)[v_1, ..., v_k]
      V_k(x; v_1, ..., v_(k-1); c)   = (D^k f(x)[v_1, ..., v_(k-1), .])^T c

  for k = 1, 2, ..., whose operands are those of f, the directions, one for each
  floating input, and cotangents, one for each floating output. Above the last
  order there is an error that says so.

  Args:
    library: the path of the shared library for JAX and NumPy; in TensorFlow
      also None, where there is only `tf_library`.
    name: the function's name in PHASIC_OP.
    jvp: the forward rule in array code.
    vjp: the reverse rule in array code.
    forward: names of J_1, J_2, ... in the library.
    adjoint: names of V_1, V_2, ... in the library.
    sizes: for each dimension that no input has, a function that gives its size
      from the sizes of the inputs: `{"k": lambda n, m: n + m}`.
    portable: the function itself in array code, of the inputs, for platforms
      without a native one.
    tf_library: the path of TensorFlow's library; NAME_tf.so in the folder of
      NAME.so by default.
    declaration: for handlers of XLA that are not made with PHASIC_OP, the text
      that PHASIC_OP would take.
    handler: the symbol of such a handler. There it is JAX's alone, and gets
      options as attributes. It is called once, to ask for the version of its
      headers. Nothing distinguishes a handler from another function of the
      library: a function that is not a handler may end the process.

  Returns:
    A function of the inputs: arrays of the declared dtypes, and for those
    without one numbers, too. It returns the output, or a tuple where there are
    several. Keyword arguments are the options of a call, numbers and strings.

  Raises:
    FileNotFoundError: there is no such library.
    OSError: it cannot be loaded.
    TypeError: a rule is not a function, or the library is not a path.
    ValueError: the library lacks a function or was compiled for another
      framework, rules are given twice, or declarations do not fit.

  Example: with PHASIC_OP(scale, Scale, "factor(), x(n) -> y(n)") in the source.

    >>> from phasic import binding
    >>> def jvp(inputs, outputs, tangents):
    ...   (factor, x), (d_factor, dx) = inputs, tangents
    ...   return (d_factor[..., None] * x + factor[..., None] * dx,)
    >>> def doubled(x, library="libscale.so"):
    ...   scale = binding.bind_native(library, "scale", jvp=jvp)
    ...   return scale(2.0, x)

  docs/native-ops.md has all of it.
  """
  if not isinstance(name, str):
    raise TypeError(f"name is {name!r}: it must be a string")
  path = native_ops.declaring_library(name, library, tf_library)
  if tf_library is None:
    stem, extension = os.path.splitext(os.fspath(library or path))
    tf_library = f"{stem}_tf{extension}"
  for what, rule in (("jvp", jvp), ("vjp", vjp), ("portable", portable)):
    if rule is not None:
      raw_arguments.check_callable(what, rule)
  if (handler is None) != (declaration is None):
    raise ValueError(
      f"op {name}: give declaration and handler together, or neither of them"
    )
  if declaration is None:
    declared = native_libraries.declaration(path, name)
  else:
    declared = native_declarations.parse(name, declaration)
  if (jvp is not None or vjp is not None) and (forward or adjoint):
    raise ValueError(
      declared.error(
        "derivatives are given twice, in array code and as native functions: "
        "drop jvp and vjp, or forward and adjoint"
      )
    )
  size_rules = {} if sizes is None else dict(sizes)
  if sorted(size_rules) != sorted(declared.own_dims):
    raise ValueError(
      declared.error(
        f"sizes are given for {sorted(size_rules)}: they must be for "
        f"{sorted(declared.own_dims)}, the dimensions that only outputs have"
      )
    )
  function = native_declarations.NativeFunction(
    declared,
    path,
    native_files.whole_path(name, "tf_library", tf_library),
    handler or "",
    size_rules,
    jvp,
    vjp,
    _declarations(path, declared, "forward", forward),
    _declarations(path, declared, "adjoint", adjoint),
    portable,
  )
  native_declarations.check_derivatives(function)
  native_ops.load(function)
  return NativeOp(function)


def _declarations(
  path: str,
  declared: native_declarations.Declaration,
  what: str,
  names: Sequence[str],
) -> tuple[native_declarations.Declaration, ...]:
  """Returns the declarations of the named derivative ops of a library."""
  if not isinstance(names, (tuple, list)) or not all(
    isinstance(x, str) for x in names
  ):
    raise TypeError(
      declared.error(
        f"{what} is {names!r}: it must be a tuple or list of names"
      )
    )
  return tuple(native_libraries.declaration(path, x) for x in names)


class NativeOp:
  """A bound native op, see `bind_native`; call it like a function.

  Example: the gradient of the sum of an op's output, for any op of one input.

    >>> import numpy as np
    >>> from phasic import binding
    >>> def gradient(op: binding.NativeOp, x):
    ...   (slopes,) = op.vjp((x,), np.ones_like(op(x)))
    ...   return slopes
  """

  def __init__(self, function: native_declarations.NativeFunction):
    """Stores the arguments of `bind_native`."""
    self._function = function
    self._made = functools.lru_cache(arguments.MAX_MADE)(self._make)

  @property
  def name(self) -> str:
    """The name of the function, for messages."""
    return self._function.declaration.name

  @property
  def declaration(self) -> str:
    """The declaration: names, types and dimensions of the operands."""
    return self._function.declaration.text

  def __repr__(self) -> str:
    return f"<{type(self).__name__} {self.name}: {self.declaration}>"

  def __call__(self, /, *args: ArrayLike, **options: Hashable) -> Result:
    """Evaluates the op; several outputs are returned as a tuple.

    Raises:
      RuntimeError: the native function refused; in compiled code and in
        TensorFlow it is the framework's error.
      TypeError: the number of arguments, a dtype or an option is not as
        declared.
      ValueError: a shape is not.
    """
    results: Tree = self._bound(options)(*self._operands(args))
    return results[0] if len(results) == 1 else results

  def jvp(
    self,
    args: Sequence[ArrayLike],
    tangents: Sequence[ArrayLike | None],
    /,
    **options: Hashable,
  ) -> Result:
    """Computes the output's tangent, or a tuple of tangents of the outputs."""
    declaration = self._function.declaration
    primals = self._operands(args)
    entries = native_rules.check_entries(
      declaration, "the tangents", declaration.inputs, tangents
    )
    call = self._bound(options)
    results: Tree = native_products.jvp(declaration, call, primals, entries)
    return results[0] if len(results) == 1 else results

  def vjp(
    self,
    args: Sequence[ArrayLike],
    cotangent: ArrayLike,
    /,
    **options: Hashable,
  ) -> tuple[Result, ...]:
    """Computes the cotangents of the arguments; None for integer arguments.

    Args:
      args: the arguments.
      cotangent: the output's, or a tuple where there are several.
      **options: the options of the call.
    """
    declaration = self._function.declaration
    primals = self._operands(args)
    entries = native_rules.check_entries(
      declaration,
      "the cotangents",
      declaration.outputs,
      (cotangent,) if len(declaration.outputs) == 1 else cotangent,
    )
    call = self._bound(options)
    results = native_products.vjp(declaration, call, primals, entries)
    cotangents: tuple[Tree, ...] = tuple(
      None if x is None else np.reshape(x, static.shape(np.asarray(a)))
      for x, a in zip(results, args, strict=True)
    )
    return cotangents

  def check(self, /, *args: ArrayLike, **options: Hashable) -> None:
    """Checks that the native function writes all its outputs, and nothing else.

    The function is called twice with the arguments, in memory that shows which
    entries were written. Ordinary calls cannot detect such errors.

    Raises:
      NotImplementedError: the op is a handler that PHASIC_OP has not made.
      RuntimeError: it fails, writes outside of its outputs or to an input,
        leaves entries of an output unwritten, or gives other results the
        second time.
    """
    if self._function.handler:
      raise NotImplementedError(
        self._function.declaration.error(
          "only ops made by PHASIC_OP can be checked"
        )
      )
    text = native_declarations.options_text(self._function.declaration, options)
    arrays = [onp.asarray(static.concrete(x)) for x in self._operands(args)]
    native_checks.check(self._function, arrays, text)

  def _bound(
    self, options: Mapping[str, Hashable]
  ) -> Callable[..., tuple[Array, ...]]:
    return self._made(arguments.key(self.name, options))

  def _make(
    self, key: static_options.Options
  ) -> Callable[..., tuple[Array, ...]]:
    return native_ops.make(self._function, static_options.thaw(key))

  def _operands(self, args: Sequence[ArrayLike]) -> tuple[Array, ...]:
    """Converts arguments to arrays with equally many batch dimensions."""
    declaration = self._function.declaration
    if len(args) != len(declaration.inputs):
      raise TypeError(
        declaration.error(
          f"there are {len(args)} arguments: there must be "
          f"{len(declaration.inputs)}"
        )
      )
    pairs = list(zip(declaration.inputs, args, strict=True))
    floats = {o.name: x for o, x in pairs if o.type == "T"}
    try:
      common = dtypes.common_dtype(floats) if floats else ""
      arrays = [operands.convert(operand, x, common) for operand, x in pairs]
      shapes = [native_ops.shape(x) for x in arrays]
    except TypeError as error:
      raise TypeError(declaration.error(str(error))) from None
    except ValueError as error:
      raise ValueError(declaration.error(str(error))) from None
    native_shapes.input_dims(declaration, shapes)
    rank = len(native_shapes.batch_shape(declaration, shapes))
    return tuple(
      _with_rank(x, rank + len(operand.dims))
      for operand, x in zip(declaration.inputs, arrays, strict=True)
    )


def _with_rank(x: Array, rank: int) -> Array:
  """Prepends dimensions of size one, up to a total of `rank` dimensions."""
  for _ in range(rank - static.rank(x)):
    x = x[None]
  return x
