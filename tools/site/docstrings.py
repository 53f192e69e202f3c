"""Plain docstrings in Google's style as text that Napoleon can read.

They are written for `help`, without markup except for code between backticks.
"""

from collections.abc import Mapping
import re

# An initial, as in "M. F. Neuts", which reStructuredText reads as a list's number.
_INITIAL = re.compile(r"^(\s*)([A-Za-z])\.(?=\s)")
# An underscore within a word is none of it.
_MARKS = re.compile(r"[\\*|]|_(?!\w)")
_ATTRIBUTE = re.compile(r"^  (\w+)(?: \(.*\))?: ", re.MULTILINE)
# It ends at the next line without indentation.
_ATTRIBUTES = re.compile(r"(?<=^Attributes:\n)(?:(?!\S).*\n?)*", re.MULTILINE)
_SECTION = "References:"
# Begin sentences whose lines after the first are indented.
_SENTENCES = ("Example: ", "Reference: ")
_PAGE = re.compile(r"docs/([\w/-]+)\.md")
_BLOCK = " " * 4


def plain(text: str) -> str:
  """Escapes what would be markup; code between backticks stays."""
  parts = text.split("`")
  parts[::2] = [_MARKS.sub(r"\\\g<0>", part) for part in parts[::2]]
  return "`".join(parts)


def attributes(docstring: str) -> set[str]:
  """Returns the names that the section "Attributes:" describes."""
  section = _ATTRIBUTES.search(docstring)
  return set(_ATTRIBUTE.findall(section[0])) if section else set()


def with_types(docstring: str, types: Mapping[str, str]) -> str:
  """Returns a docstring that says the types of attributes.

  Where one is missing, Napoleon shows what the type stands for, with the names
  of internal modules.

  Args:
    docstring: a class's.
    types: the types by the names of attributes; others stay as they are.
  """

  def typed(entry: re.Match[str]) -> str:
    name = entry[1]
    return f"  {name} ({types[name]}): " if name in types else entry[0]

  return _ATTRIBUTES.sub(
    lambda section: _ATTRIBUTE.sub(typed, section[0]), docstring
  )


def as_restructured_text(lines: list[str]) -> list[str]:
  """Returns the lines of a docstring with plain text escaped.

  References, one after the other with hanging indents, become a list; the text of
  an example, and a single reference, become paragraphs. Pages of the site become
  links. Blocks that are indented by four, formulas and code, stay as they are.
  """
  found: list[str] = []
  is_example = is_block = is_reference = is_told = False
  for line in lines:
    text = line.strip()
    is_told = bool(text) and (is_told or line.startswith(_SENTENCES))
    if is_told:
      line = text
    is_block = is_block and (not text or line.startswith(_BLOCK))
    if line.startswith(_BLOCK) and found and not found[-1] and not is_block:
      is_block = not text.startswith(">>>")
      if is_block:
        found += ["::", ""]
    is_example = bool(text) and (is_example or text.startswith(">>>"))
    if text and not line.startswith(" "):
      is_reference = line == _SECTION
    if not is_block and not is_example:
      line = _INITIAL.sub(r"\1\2\\.", plain(line))
      line = _PAGE.sub(r":doc:`/\1`", line)
      if is_reference and text and line != _SECTION:
        is_first = not line.startswith("   ")
        line = f"  {'* ' if is_first else '  '}{line.strip()}"
    found.append(line)
  return found
