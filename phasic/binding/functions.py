"""Binds functions of NumPy arrays as differentiable ops."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
import functools
from typing import TypeAlias, TypeGuard

from phasic.binding import arguments
from phasic.binding import array_rules
from phasic.binding import linear
from phasic.internal import autodiff
from phasic.internal import custom_gradient
from phasic.internal import raw_arguments
from phasic.internal.arrays import Result, Structure, Tree
from phasic.internal.native import host_calls
from phasic.internal.native import host_functions
from phasic.internal.native import static_options
from phasic.math.model import not_differentiable


def bind(
  f: Callable[..., object],
  *,
  jvp: Callable[..., object] | None = None,
  vjp: Callable[..., object] | None = None,
  abstract: Callable[..., object] | None = None,
  nondifferentiable: Sequence[int] = (),
  batching: str = "sequential",
  name: str | None = None,
) -> BoundFunction:
  """Makes a differentiable op from a Python function of NumPy arrays.

  The function and its rules are called on the host, with NumPy arrays of their
  own in the place of arrays, also by compiled programs. Arguments and results
  are arrays, or nested tuples, lists and dicts of them. Keyword arguments are
  handed on as they are: they must be hashable, and are not arrays.

  Rules of derivatives are functions of NumPy arrays too, or, for derivatives
  of higher order, `array_code` or bound functions themselves:

      jvp(args, tangents, **options)   returns f'(args) tangents
      vjp(args, cotangent, **options)  returns f'(args)^T cotangent, a tuple

  where `args` is the tuple of arguments. Of integers, and of arguments in
  `nondifferentiable`, tangents and cotangents are None; of complex numbers they
  are not conjugated. Asking for a derivative whose rule is missing raises
  NotImplementedError.

  In an eager call exceptions are the function's own. In a compiled program they
  are the framework's, with type, message and traceback in the text, and
  `last_error` returns the exception. The function has to be pure: compilers
  leave out calls whose results are not used, and may make one of two. It must
  not call JAX or TensorFlow. A function for which a program was compiled is
  kept, with the objects it has captured, until the process ends: bind once, not
  in a loop.

  Args:
    f: the function.
    jvp: its forward rule.
    vjp: its reverse rule.
    abstract: `abstract(*args, **options)`, with an `ArraySpec` in the place of
      each array, returns the result's. Without it programs call the function
      with zeros to see them.
    nondifferentiable: positions of arguments in which there is no derivative.
    batching: the rule of `jax.vmap`. "sequential" calls the function for each
      example; "expand" calls it once, with the batch's dimension in front of
      all arguments, of size one where an argument has none, and so are its
      rules called. The function has to align the dimensions behind: x + y of
      numbers x and vectors y is x[..., None] + y. Where a batch is as large as
      another dimension, the first call is checked by one with another size,
      and TypeError is raised if that has not its shape.
    name: the function's name in messages.

  Returns:
    A function. Its methods `jvp` and `vjp` are the rules as ops.

  Raises:
    TypeError: an argument is not a function, or positions are not a sequence.
    ValueError: there is no such batching, or a position is negative.

  Example:

    >>> import numpy as np
    >>> from phasic import binding
    >>> cube = binding.bind(
    ...   lambda x: x**3, vjp=lambda args, ct: (3 * args[0] ** 2 * ct,)
    ... )
    >>> print(f"{float(cube(np.asarray(2.0))):.1f}")
    8.0
  """
  function = arguments.host_function("f", f, name, batching)
  for what, rule in (("jvp", jvp), ("vjp", vjp), ("abstract", abstract)):
    if rule is not None:
      raw_arguments.check_callable(what, rule)
  fixed = arguments.positions("nondifferentiable", nondifferentiable)
  return BoundFunction(function, abstract, jvp, vjp, fixed)


# A derivative rule: a function of NumPy arrays, array code, or a bound
# function. A `jvp` rule returns the structure of the function's result, and a
# `vjp` rule returns the structure of its arguments.
Rule: TypeAlias = (
  Callable[..., Tree] | host_functions.HostFunction | host_functions.Missing
)


class BoundFunction:
  """A bound function, see `bind`; call it as you would call the function.

  Example:

    >>> import numpy as np
    >>> from phasic import binding
    >>> square = binding.bind(
    ...   lambda x: x**2, vjp=lambda args, ct: (2.0 * args[0] * ct,), name="square"
    ... )
    >>> square
    <BoundFunction square>
    >>> (slope,) = square.vjp((np.asarray(3.0),), np.asarray(1.0))
    >>> print(f"{float(slope):.1f}")
    6.0
  """

  def __init__(
    self,
    function: host_functions.HostFunction,
    abstract: Callable[..., object] | None,
    jvp: Rule | None,
    vjp: Rule | None,
    nondifferentiable: tuple[int, ...],
  ):
    """Stores the arguments of `bind`; a rule may also be a `HostFunction`."""
    self._function = function
    self._abstract = abstract
    self._nondifferentiable = nondifferentiable
    self._made = functools.lru_cache(arguments.MAX_MADE)(self._make)
    self._jvp = self._rule("jvp", jvp)
    self._vjp = self._rule("vjp", vjp)
    if _is_bound_once(self._jvp) and _is_bound_once(self._vjp):
      self._vjp = _Reverse(self._vjp, self._jvp)

  @property
  def name(self) -> str:
    """The name of the function, for messages."""
    return self._function.name

  def __repr__(self) -> str:
    return f"<{type(self).__name__} {self.name}>"

  def __call__(self, /, *args: Structure, **options: Hashable) -> Result:
    """Evaluates the function."""
    arguments.check_positions(
      self.name, "nondifferentiable", self._nondifferentiable, len(args)
    )
    arguments.check_unmasked(self.name, args)
    made = self._made(arguments.key(self.name, options))
    fixed = [
      self._without_derivatives(i, x) if i in self._nondifferentiable else x
      for i, x in enumerate(host_calls.arrays(self.name, args))
    ]
    return made(*fixed)

  def jvp(
    self,
    args: Sequence[Structure],
    tangents: Sequence[Structure],
    /,
    **options: Hashable,
  ) -> Result:
    """Computes the Jacobian-vector product by the rule `jvp`.

    This is the linear map f'(args), applied to the tangents.

    Raises:
      NotImplementedError: there is no such rule.
    """
    if isinstance(self._jvp, host_functions.Missing):
      raise NotImplementedError(self._jvp.message)
    arguments.check_unmasked(self.name, args)
    arguments.check_unmasked(self.name, tangents, "tangent")
    at, along = tuple(args), self._floating(tangents)
    if not isinstance(self._jvp, host_functions.HostFunction):
      return self._jvp(at, along, **options)
    return self._linear(
      self._jvp, self._vjp, self._tangent_like, at, along, options
    )

  def vjp(
    self,
    args: Sequence[Structure],
    cotangent: Structure,
    /,
    **options: Hashable,
  ) -> tuple[Result, ...]:
    """Computes the vector-Jacobian product by the rule `vjp`.

    This is the transpose of f'(args), applied to the cotangent: a tuple, with
    None for arguments that are integers or nondifferentiable.

    Raises:
      NotImplementedError: there is no such rule.
    """
    if isinstance(self._vjp, host_functions.Missing):
      raise NotImplementedError(self._vjp.message)
    arguments.check_unmasked(self.name, args)
    arguments.check_unmasked(self.name, (cotangent,), "cotangent")
    at, along = tuple(args), _floating(cotangent)
    if not isinstance(self._vjp, host_functions.HostFunction):
      cotangents = self._vjp(at, along, **options)
      if not isinstance(cotangents, tuple) or len(cotangents) != len(at):
        raise TypeError(
          f"vjp of {self.name} must return a tuple with an entry for each of "
          f"the {len(at)} arguments"
        )
      for i, (x, like) in enumerate(zip(cotangents, self._floating(at))):
        rule = f"vjp of {self.name}"
        arguments.check_derivative(rule, x, like, f"argument {i}")
      return cotangents
    return self._linear(
      self._vjp, self._jvp, self._cotangent_like, at, along, options
    )

  # These are methods and not closures, because bound methods of one object
  # compare equal, so that backends can use them as keys of caches.
  def _tangent_like(
    self, args: Sequence[Structure], tangents: Structure, /, **options: Hashable
  ) -> object:
    function, abstract = self._function, self._abstract
    return _floating(host_calls.result_like(function, abstract, args, options))

  def _cotangent_like(
    self,
    args: Sequence[Structure],
    cotangent: Structure,
    /,
    **options: Hashable,
  ) -> tuple[object, ...]:
    return self._floating(args)

  def _linear(
    self,
    function: host_functions.HostFunction,
    other: Rule,
    abstract: Callable[..., object],
    at: tuple[Structure, ...],
    along: object,
    options: Mapping[str, Hashable],
  ) -> Tree:
    """Calls the rule `function` on the host; `other` is its transpose."""
    if not isinstance(
      other, (host_functions.HostFunction, host_functions.Missing)
    ):
      other = host_functions.Missing(
        f"{function.name} has no transpose, as the other rule of {self.name} is "
        "array code or a bound function: give both rules as array code or "
        "bound functions"
      )
    return host_calls.call_multilinear(
      (function, other), abstract, (at,), (along,), options
    )

  def _floating(self, args: Sequence[Structure]) -> tuple[object, ...]:
    """Replaces nondifferentiable arguments and integers by None."""
    fixed = self._nondifferentiable
    return tuple(
      None if i in fixed else _floating(x) for i, x in enumerate(args)
    )

  def _rule(self, what: str, rule: Rule | None) -> Rule:
    """Returns the callable of a rule, or `Missing` if `rule` is None."""
    if rule is None:
      mode = "forward" if what == "jvp" else "reverse"
      return host_functions.Missing(
        f"{self.name} was bound without the rule {what}: {mode} mode needs it"
      )
    if isinstance(rule, _RULES):
      return rule
    is_array_code = isinstance(rule, array_rules.ArrayCode)
    if what == "vjp":
      rule = _dropping(arguments.as_tuple(rule), self._nondifferentiable)
    if is_array_code:
      return rule
    batching = self._function.batching
    return host_functions.HostFunction(f"{what} of {self.name}", rule, batching)

  def _without_derivatives(self, position: int, x: Structure) -> Structure:
    advice = (
      f"{self.name} was bound with nondifferentiable argument {position}: "
      "apply stop_gradient to it"
    )
    return not_differentiable.attach(advice, autodiff.stop_gradient(x), x)

  def _make(self, key: static_options.Options) -> Callable[..., Result]:
    """Makes the differentiable function for given keyword arguments."""
    options = static_options.thaw(key)

    def call(*args: Structure) -> Result:
      return host_calls.call(self._function, self._abstract, args, options)

    def backward(
      args: tuple[Structure, ...], cotangent: Structure
    ) -> tuple[object, ...]:
      plain = host_calls.conjugated(cotangent)
      cotangents = host_calls.conjugated(self.vjp(args, plain, **options))
      fixed = self._nondifferentiable
      return tuple(
        host_calls.no_cotangent(x) if i in fixed else cotangents[i]
        for i, x in enumerate(args)
      )

    def call_jvp(
      args: tuple[Structure, ...], tangents: tuple[Structure, ...]
    ) -> tuple[Result, Result]:
      result, moved = made(*args), self.jvp(args, tangents, **options)
      rule = f"jvp of {self.name}"
      # Check the tangents of host functions here too. The specs of their
      # results come from a call with zeros, or are unknown, so that an earlier
      # check may not have compared them with this result.
      arguments.check_derivative(rule, moved, _floating(result), "the result")
      return result, moved

    call.__name__ = self.name
    has_vjp = not isinstance(self._vjp, host_functions.Missing)
    has_jvp = not isinstance(self._jvp, host_functions.Missing)
    forward = host_calls.forward_rule(lambda *args: made(*args))
    made: Callable[..., Result] = custom_gradient.custom_gradient(
      vjp_fwd=forward if has_vjp else None,
      vjp_bwd=backward if has_vjp else None,
      jvp_fn=call_jvp if has_jvp else None,
      eager=True,
    )(call)
    return made


class _Reverse(BoundFunction):
  """A bound `vjp` rule, whose transpose in the cotangent is the `jvp` rule.

  The vjp of the `vjp` rule gives the same result. But backends that compute
  forward mode by reverse mode twice, as TensorFlow does, would differentiate
  it again, and need rules of second order.
  """

  def __init__(self, rule: BoundFunction, forward: BoundFunction):
    """Takes the bound `vjp` rule, and the bound `jvp` rule as `forward`."""
    super().__init__(
      rule._function,
      rule._abstract,
      rule._jvp,
      rule._vjp,
      rule._nondifferentiable,
    )
    self._forward = forward

  def vjp(
    self,
    args: Sequence[Structure],
    cotangent: Structure,
    /,
    **options: Hashable,
  ) -> tuple[Result, ...]:
    """Computes cotangents of the `vjp` rule's inputs: args and cotangent."""
    cotangents = super().vjp(args, cotangent, **options)
    return cotangents[0], self._forward(
      args[0], _floating(cotangent), **options
    )


def _is_bound_once(rule: Rule) -> TypeGuard[BoundFunction]:
  """Returns whether a rule is a bound function with a host `vjp` rule."""
  return (
    isinstance(rule, BoundFunction)
    and isinstance(rule._vjp, host_functions.HostFunction)
    and not rule._nondifferentiable
  )


# The types of rules that `_rule` returns unchanged.
_RULES = (
  BoundFunction,
  linear.MultilinearFunction,
  host_functions.HostFunction,
  host_functions.Missing,
)


def _floating(tree: object) -> Tree:
  """Replaces the integers in a structure by None."""
  leaves, make = autodiff.flatten(tree)
  return make([x if host_calls.is_differentiable(x) else None for x in leaves])


def _dropping(
  rule: Callable[..., Sequence[object]], dropped: tuple[int, ...]
) -> Callable[..., Sequence[object]]:
  """Wraps a `vjp` rule to return None for some of the arguments."""
  if not dropped:
    return rule

  def wrapped(*args: object, **options: Hashable) -> tuple[object, ...]:
    results = rule(*args, **options)
    return tuple(None if i in dropped else x for i, x in enumerate(results))

  return wrapped
