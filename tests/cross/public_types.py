"""The public signatures of the wheel that have `Any` in their types."""

from collections.abc import Iterator
import inspect
import re
from typing import Any

from tests.cross import public_names

_ANY = re.compile(r"\bAny\b")
# Methods with these names are public too.
_SPECIAL = ("__call__", "__getitem__")


def untyped(substrate: str) -> list[str]:
  """Returns the parameters and results whose type has `Any`, by full names."""
  found = {
    f"{place}: {annotation}"
    for name, module in public_names.modules(substrate).items()
    for public in module.__all__
    for place, annotation in _of(
      f"{name}.{public}".lstrip("."), getattr(module, public)
    )
    if _ANY.search(annotation)
  }
  return sorted(found)


def _of(name: str, value: Any) -> Iterator[tuple[str, str]]:
  """Yields places and types of a class or function."""
  if not inspect.isclass(value):
    if inspect.isroutine(value):
      yield from _of_function(name, value)
    return
  yield from _of_function(name, value)
  own: dict[str, Any] = {}
  for base in reversed(value.__mro__):
    if base.__module__.startswith("phasic."):
      own.update(vars(base))
  for public, member in own.items():
    if public.startswith("_") and public not in _SPECIAL:
      continue
    for inner in ("fget", "func", "__func__"):
      member = getattr(member, inner, None) or member
    if inspect.isfunction(member):
      # Methods of a base class are listed once, under its name.
      yield from _of_function(member.__qualname__, member)


def _of_function(name: str, function: Any) -> Iterator[tuple[str, str]]:
  signature = inspect.signature(function)
  for parameter in signature.parameters.values():
    yield f"{name}({parameter.name})", _text(parameter.annotation)
  yield f"{name} ->", _text(signature.return_annotation)


def _text(annotation: object) -> str:
  """Returns an annotation's text, which is a string in most modules."""
  if annotation is inspect.Signature.empty:
    return ""
  return annotation if isinstance(annotation, str) else repr(annotation)
