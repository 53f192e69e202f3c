"""The wheel's METADATA and WHEEL files, from pyproject.toml."""

from collections.abc import Iterable
import fnmatch
from typing import Any

GENERATOR = "phasic"


def distribution(project: dict[str, Any]) -> str:
  """The distribution's name as file names have it."""
  return str(project["name"]).replace("-", "_")


def check_licenses(project: dict[str, Any], names: Iterable[str]) -> None:
  """Checks that the license files are those of pyproject.toml's patterns.

  Args:
    project: the [project] table.
    names: the paths of the files in the repository.

  Raises:
    ValueError: a file matches no pattern, or a pattern no file.
  """
  names = list(names)
  patterns = project["license-files"]
  for name in names:
    if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
      raise ValueError(
        f"license-files is {patterns}: it must match {name}; add it"
      )
  for pattern in patterns:
    if not fnmatch.filter(names, pattern):
      raise ValueError(
        f"license-files has {pattern}: it must match a file of the wheel rule's "
        "`licenses`; add the file there"
      )


def _requirement(name: str, extra: str) -> str:
  """The line of a requirement of an extra, which may have a marker."""
  requirement, _, marker = (part.strip() for part in name.partition(";"))
  condition = f'extra == "{extra}"'
  if marker:
    condition = f"({marker}) and {condition}"
  return f"Requires-Dist: {requirement}; {condition}"


def metadata(
  project: dict[str, Any], readme: str, licenses: Iterable[str]
) -> str:
  """The METADATA file.

  Args:
    project: the [project] table.
    readme: the description, in Markdown.
    licenses: the names of the license files.
  """
  lines = [
    "Metadata-Version: 2.4",
    f"Name: {project['name']}",
    f"Version: {project['version']}",
    f"Summary: {project['description']}",
    f"Author: {', '.join(author['name'] for author in project['authors'])}",
    f"Keywords: {','.join(project['keywords'])}",
    f"License-Expression: {project['license']}",
    *(f"License-File: {name}" for name in sorted(licenses)),
    *(
      f"Project-URL: {name}, {address}"
      for name, address in project.get("urls", {}).items()
    ),
    *(f"Classifier: {name}" for name in project["classifiers"]),
    f"Requires-Python: {project['requires-python']}",
    *(f"Requires-Dist: {name}" for name in project["dependencies"]),
  ]
  for extra, names in project["optional-dependencies"].items():
    lines.append(f"Provides-Extra: {extra}")
    lines += [_requirement(name, extra) for name in names]
  lines.append("Description-Content-Type: text/markdown")
  return "\n".join(lines) + "\n\n" + readme


def wheel(tag: str) -> str:
  """The WHEEL file of a wheel with a tag."""
  pure = str(tag.endswith("-none-any")).lower()
  return (
    f"Wheel-Version: 1.0\nGenerator: {GENERATOR}\nRoot-Is-Purelib: {pure}\n"
    f"Tag: {tag}\n"
  )
