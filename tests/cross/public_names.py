"""The public names of the wheel, with signatures, in one text.

`make golden` writes it to public_names.txt. A line has a name, the parameters
and defaults of a callable, and the substrates, if not all have the name.
"""

from collections.abc import Iterator
import importlib
import inspect
import types
from typing import Any

SUBSTRATES = ("numpy", "jax", "tf")
# Modules that users import by name.
_IMPORTED = {
  "numpy": ("interop",),
  "jax": ("binding.jaxbind_compat", "interop"),
  "tf": ("interop",),
}
_PLAIN = (bool, int, float, str, type(None))


def text() -> str:
  """Returns the text for all substrates, which must be installed."""
  having: dict[str, list[str]] = {}
  for substrate in SUBSTRATES:
    for line in lines(substrate):
      having.setdefault(line, []).append(substrate)
  return "".join(
    f"{line}{_note(substrates)}\n"
    for line, substrates in sorted(having.items())
  )


def lines(substrate: str) -> list[str]:
  """Returns the lines of one substrate."""
  return [
    line
    for name, module in modules(substrate).items()
    for line in _of_module(name, module)
  ]


def modules(substrate: str) -> dict[str, types.ModuleType]:
  """Returns the public modules of a substrate, by relative names."""
  base = f"phasic.substrates.{substrate}"
  root = importlib.import_module(base)
  found = {"": root}
  pending = [
    (name, importlib.import_module(f"{base}.{name}"))
    for name in _IMPORTED[substrate]
  ]
  pending += _inner("", root)
  while pending:
    name, module = pending.pop()
    found[name] = module
    pending += _inner(f"{name}.", module)
  return found


def documented(substrate: str) -> Iterator[tuple[str, Any]]:
  """Yields public modules, functions, classes and methods, with their names."""
  for name, module in modules(substrate).items():
    yield name, module
    for public in module.__all__:
      value = getattr(module, public)
      yield f"{name}.{public}", value
      if inspect.isclass(value):
        for method, inner in inspect.getmembers(value):
          if not method.startswith("_"):
            yield f"{name}.{public}.{method}", inner


def _inner(
  prefix: str, module: types.ModuleType
) -> list[tuple[str, types.ModuleType]]:
  return [
    (prefix + name, value)
    for name in module.__all__
    if isinstance(value := getattr(module, name), types.ModuleType)
  ]


def _note(substrates: list[str]) -> str:
  if substrates == list(SUBSTRATES):
    return ""
  return f"  # {', '.join(substrates)}"


def _of_module(name: str, module: types.ModuleType) -> Iterator[str]:
  prefix = f"{name}." if name else ""
  for public in sorted(module.__all__):
    value = getattr(module, public)
    if inspect.isclass(value):
      yield f"class {prefix}{public}{_signature(value)}"
      yield from _of_class(f"{prefix}{public}", value)
    elif inspect.isroutine(value):
      yield f"{prefix}{public}{_signature(value)}"
    else:
      yield f"{prefix}{public}"


def _of_class(name: str, cls: type) -> Iterator[str]:
  """Yields attributes of a class and of its bases in phasic."""
  own: dict[str, Any] = {}
  for base in reversed(cls.__mro__):
    if base.__module__.startswith("phasic."):
      own.update(vars(base))
  for public, value in sorted(own.items()):
    if public.startswith("_"):
      continue
    value = getattr(value, "__func__", value)
    shown = _signature(value) if inspect.isfunction(value) else ""
    yield f"{name}.{public}{shown}"


def _signature(function: Any) -> str:
  """Returns the parameters of a function or class, without types."""
  signature = inspect.signature(function)
  parameters = [_plain(x) for x in signature.parameters.values()]
  shown = str(inspect.Signature(parameters))
  # TensorFlow's wrapper of class methods hides the signature.
  return "" if shown == "(*args, **kwargs)" else shown


def _plain(parameter: inspect.Parameter) -> inspect.Parameter:
  """Returns a parameter with a default that prints equally in all processes."""
  default = parameter.default
  is_shown = default is parameter.empty or isinstance(default, _PLAIN)
  if not is_shown and not (isinstance(default, tuple) and not default):
    default = _Other()
  return parameter.replace(annotation=parameter.empty, default=default)


class _Other:
  """A placeholder for a default without a short text."""

  def __repr__(self) -> str:
    return "..."
