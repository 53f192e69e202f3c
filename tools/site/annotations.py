"""Types as pages show them: as the source writes them, without modules."""

from collections.abc import Mapping
import inspect
import re

# What is left out of `onp.ndarray` and `graph_lib.Graph`.
_MODULES = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Z]|ndarray\b)")
# A default that is no expression, such as a data class's `<factory>`.
_NO_EXPRESSION = re.compile(r"=( ?)<\w+>")
_ATTRIBUTES = "Attributes:"
_ATTRIBUTE = re.compile(r"  (\w+): ")
# Types without a page of their own, and where they are explained.
EXPLANATION = ("reference/index", "types-in-signatures")
EXPLAINED = (
  *("AbsorptionTime", "Array", "ArrayField", "ArrayLike", "Axes"),
  *("DistributionT", "EdgeLike", "EpochParams", "FitOptions", "Hooks"),
  *("Integer", "ModelLike", "Network", "Options", "ParamsLike", "Result"),
  *("Seed", "ShapeLike", "State", "Structure", "SubgeneratorLike"),
  *("SubtransitionLike", "TableLike"),
)


def without_modules(text: str) -> str:
  """Returns a type or a signature without the modules of its names.

  A default that is no expression becomes three dots, or else Sphinx would not
  be able to read the signature.
  """
  return _NO_EXPRESSION.sub(r"=\1...", _MODULES.sub("", text))


def of_attributes(cls: type) -> dict[str, str]:
  """Returns the types of the fields of a class and its bases, by name."""
  found: dict[str, str] = {}
  for base in reversed(cls.__mro__):
    for name, written in inspect.get_annotations(base).items():
      # Named tuples have references in the place of text.
      text = getattr(written, "__forward_arg__", written)
      if not isinstance(text, str):
        text = inspect.formatannotation(text)
      found[name] = without_modules(text)
  return found


def keep_type(member: object) -> None:
  """Makes a property's type one whose name is the text of the source.

  Else autodoc shows what the type stands for.
  """
  getter = getattr(member, "fget", None) or getattr(member, "func", None)
  written = getattr(getter, "__annotations__", {}).get("return")
  if isinstance(written, str):
    shown = type(without_modules(written), (), {"__module__": "builtins"})
    getter.__annotations__["return"] = shown


def add_types(lines: list[str], types: Mapping[str, str]) -> list[str]:
  """Returns the lines of a docstring with the types of attributes.

  Where one is missing, Napoleon shows what the type stands for, with the names
  of internal modules.
  """
  found: list[str] = []
  is_inside = False
  for line in lines:
    if line and not line.startswith(" "):
      is_inside = line == _ATTRIBUTES
    entry = _ATTRIBUTE.match(line)
    if is_inside and entry is not None and entry[1] in types:
      line = f"  {entry[1]} ({types[entry[1]]}): {line[entry.end() :]}"
    found.append(line)
  return found
