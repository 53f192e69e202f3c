"""The wheel's METADATA and WHEEL files, from pyproject.toml."""

from typing import Any

GENERATOR = "phasic"


def distribution(project: dict[str, Any]) -> str:
  """The distribution's name as file names have it."""
  return str(project["name"]).replace("-", "_")


def metadata(project: dict[str, Any], readme: str) -> str:
  """The METADATA file.

  Args:
    project: the [project] table.
    readme: the description, in Markdown.
  """
  lines = [
    "Metadata-Version: 2.4",
    f"Name: {project['name']}",
    f"Version: {project['version']}",
    f"Summary: {project['description']}",
    f"Keywords: {','.join(project['keywords'])}",
    f"License-Expression: {project['license']}",
    *(f"License-File: {name}" for name in project["license-files"]),
    *(f"Classifier: {name}" for name in project["classifiers"]),
    f"Requires-Python: {project['requires-python']}",
    *(f"Requires-Dist: {name}" for name in project["dependencies"]),
  ]
  for extra, names in project["optional-dependencies"].items():
    lines.append(f"Provides-Extra: {extra}")
    lines += [f'Requires-Dist: {name}; extra == "{extra}"' for name in names]
  lines.append("Description-Content-Type: text/markdown")
  return "\n".join(lines) + "\n\n" + readme


def wheel(tag: str) -> str:
  """The WHEEL file of a platform wheel."""
  return "\n".join(
    [
      "Wheel-Version: 1.0",
      f"Generator: {GENERATOR}",
      "Root-Is-Purelib: false",
      f"Tag: {tag}",
      "",
    ]
  )
