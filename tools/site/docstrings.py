"""Plain docstrings in Google's style as text that Napoleon can read.

They are written for `help`, without markup except for code between backticks.
"""

import re

# What reStructuredText takes for the number of a list: "M. F. Neuts".
_INITIAL = re.compile(r"^(\s*)([A-Za-z])\.(?=\s)")
# An underscore within a word is none of it.
_MARKS = re.compile(r"[\\*|]|_(?!\w)")
_ATTRIBUTE = re.compile(r"^  (\w+)(?: \(.*\))?: ", re.MULTILINE)
_SECTION = "References:"
# What is one sentence or two, though lines after the first are indented.
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
  _, found, section = docstring.partition("\nAttributes:\n")
  if not found:
    return set()
  # The section ends at the next line without indentation.
  section = re.split(r"^(?=\S)", section, maxsplit=1, flags=re.MULTILINE)[0]
  return set(_ATTRIBUTE.findall(section))


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
