"""Types as pages show them: as the source writes them, without modules."""

import inspect
import re

# The modules before a type: `onp.ndarray`, `graph_lib.Graph`.
_MODULES = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Z]|ndarray\b)")
# A default that is no expression, such as a data class's `<factory>`.
_NO_EXPRESSION = re.compile(r"=( ?)<\w+>")
_EXPLAINED = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)
# The page and the section with types that have no page of their own.
EXPLANATION = ("reference/index", "types-in-signatures")


def explained(page: str) -> set[str]:
  """Returns the names of types in the first column of a page's tables."""
  return set(_EXPLAINED.findall(page))


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
