"""Functions of NumPy arrays as differentiable ops."""

from collections.abc import Callable, Sequence
from typing import Any

from phasic.binding import arguments
from phasic.internal import custom_gradient
from phasic.internal import gradients
from phasic.internal import host_calls
from phasic.internal import host_functions
from phasic.math import not_differentiable


def bind(
  f: Callable[..., Any],
  *,
  jvp: Callable[..., Any] | None = None,
  vjp: Callable[..., Any] | None = None,
  abstract: Callable[..., Any] | None = None,
  nondifferentiable: Sequence[int] = (),
  batching: str = "sequential",
  name: str | None = None,
) -> "BoundFunction":
  """Makes a differentiable op of a Python function of NumPy arrays.

  The function and its rules are called on the host, with NumPy arrays of their
  own in the place of arrays, also by compiled programs. Arguments and results
  are arrays, or nested tuples, lists and dicts of them. Keyword arguments are
  handed on as they are: they must be hashable, and are no arrays.

  Rules of derivatives are functions of NumPy arrays too, or, for derivatives
  of higher order, bound functions themselves:

      jvp(args, tangents, **options)   returns f'(args) tangents
      vjp(args, cotangent, **options)  returns f'(args)^T cotangent, a tuple

  where `args` is the tuple of arguments, tangents are None for integers, and so
  have to be an argument's cotangent. Asking for a derivative whose rule is
  missing raises NotImplementedError. In TensorFlow and for second derivatives
  one rule is made of the other where it is a bound function.

  In an eager call exceptions are the function's own. In a compiled program they
  are the framework's, with type, message and traceback in the text, and
  `last_error` returns the exception.

  Args:
    f: the function.
    jvp: its forward rule.
    vjp: its reverse rule.
    abstract: `abstract(*args, **options)`, of arguments with `shape` and
      `dtype`, returns what has those of the result. Without it the function is
      called with zeros to see them.
    nondifferentiable: positions of arguments in which there is no derivative.
    batching: what a vectorised call does. "sequential" calls the function for
      each example; "expand" calls it once, with the batch's dimension in front
      of all arguments, of size one where an argument has none.
    name: what messages call the function.

  Returns:
    A function. Its methods `jvp` and `vjp` are the rules as ops.

  Raises:
    TypeError: an argument is no function, or no position.
    ValueError: there is no such batching.

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
      arguments.check_callable(what, rule)
  fixed = arguments.positions("nondifferentiable", nondifferentiable)
  return BoundFunction(function, abstract, jvp, vjp, fixed)


class BoundFunction:
  """What `bind` returns: call it as the function itself."""

  def __init__(
    self,
    function: host_functions.HostFunction,
    abstract: Callable[..., Any] | None,
    jvp: Callable[..., Any] | None,
    vjp: Callable[..., Any] | None,
    nondifferentiable: tuple[int, ...],
  ):
    """Keeps what `bind` was called with."""
    self._function = function
    self._abstract = abstract
    self._nondifferentiable = nondifferentiable
    self._made: dict[Any, Callable[..., Any]] = {}
    self._jvp = self._rule("jvp", jvp)
    self._vjp = self._rule("vjp", vjp)

  @property
  def name(self) -> str:
    """What messages call the function."""
    return self._function.name

  def __repr__(self) -> str:
    return f"<{type(self).__name__} {self.name}>"

  def __call__(self, *args: Any, **options: Any) -> Any:
    """Returns the function's result."""
    key = arguments.key(self.name, options)
    if key not in self._made:
      self._made[key] = self._make(options)
    fixed = [
      self._without_derivatives(i, x) if i in self._nondifferentiable else x
      for i, x in enumerate(args)
    ]
    return self._made[key](*fixed)

  def jvp(self, args: Any, tangents: Any, **options: Any) -> Any:
    """Returns f'(args) tangents, by the forward rule.

    Raises:
      NotImplementedError: there is none.
    """
    if self._jvp is None:
      raise NotImplementedError(f"{self.name} was bound without the rule jvp")
    if isinstance(self._jvp, BoundFunction):
      return self._jvp(tuple(args), tuple(tangents), **options)

    def abstract(args: Any, tangents: Any, **options: Any) -> Any:
      del tangents
      like = host_calls.result_like
      return like(self._function, self._abstract, args, options)

    both = (tuple(args), tuple(tangents))
    return host_calls.call(self._jvp, abstract, both, options)

  def vjp(self, args: Any, cotangent: Any, **options: Any) -> Any:
    """Returns f'(args)^T cotangent, by the reverse rule, as a tuple.

    It has None for arguments that are integers or nondifferentiable.

    Raises:
      NotImplementedError: there is none.
    """
    if self._vjp is None:
      raise NotImplementedError(f"{self.name} was bound without the rule vjp")
    if isinstance(self._vjp, BoundFunction):
      return self._vjp(tuple(args), cotangent, **options)

    def abstract(args: Any, cotangent: Any, **options: Any) -> Any:
      del cotangent, options
      return self._cotangents_like(args)

    return host_calls.call(
      self._vjp, abstract, (tuple(args), cotangent), options
    )

  def _cotangents_like(self, args: Any) -> Any:
    like = host_calls.cotangent_like(tuple(args))
    fixed = self._nondifferentiable
    return tuple(None if i in fixed else x for i, x in enumerate(like))

  def _rule(self, what: str, rule: Callable[..., Any] | None) -> Any:
    """Returns a rule as a function of the host; None and ops stay."""
    if rule is None or isinstance(rule, BoundFunction):
      return rule
    batching = self._function.batching
    if what == "vjp":
      rule = _dropping(arguments.as_tuple(rule), self._nondifferentiable)
    return host_functions.HostFunction(f"{what} of {self.name}", rule, batching)

  def _without_derivatives(self, position: int, x: Any) -> Any:
    advice = (
      f"{self.name} was bound with nondifferentiable argument {position}: "
      "apply stop_gradient to it"
    )
    return not_differentiable.attach(advice, gradients.stop_gradient(x), x)

  def _make(self, options: dict[str, Any]) -> Callable[..., Any]:
    """Returns the function with its rules, for some keyword arguments."""

    def call(*args: Any) -> Any:
      return host_calls.call(self._function, self._abstract, args, options)

    def forward(*args: Any) -> Any:
      return call(*args), args

    def backward(args: Any, cotangent: Any) -> Any:
      return self.vjp(args, cotangent, **options)

    def push(args: Any, tangents: Any) -> Any:
      return call(*args), self.jvp(args, tangents, **options)

    call.__name__ = self.name
    rules: dict[str, Any] = {}
    if self._vjp is not None:
      rules.update(vjp_fwd=forward, vjp_bwd=backward)
    if self._jvp is not None:
      rules.update(jvp_fn=push)
    return custom_gradient.custom_gradient(**rules)(call)


def _dropping(
  rule: Callable[..., Any], dropped: tuple[int, ...]
) -> Callable[..., Any]:
  """Returns a reverse rule with None for some of the arguments."""
  if not dropped:
    return rule

  def wrapped(*args: Any, **options: Any) -> Any:
    results = rule(*args, **options)
    return tuple(None if i in dropped else x for i, x in enumerate(results))

  return wrapped
