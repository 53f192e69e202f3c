"""Writes the sdist, which builds without Bazel: the same bytes for the same inputs.

    python -m tools.wheel.sdist --manifest M --output_dir dist
      --license LICENSE ... --headers jax=FOLDER ...

The manifest has a line `name in the sdist=path` per file. Headers of other
projects are copied from the folders given: those that a native source includes,
and those that they include in turn.
"""

import argparse
from collections.abc import Iterable, Mapping
import gzip
import io
import os
import pathlib
import re
import tarfile
import tomllib

from tools.wheel import metadata

_INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
# What may be taken from each project's folder of headers, which for Eigen is the
# system's.
_PROJECTS = {
  "eigen": ("eigen3/",),
  "jax": ("xla/",),
  "tf": ("tensorflow/", "tsl/", "xla/"),
}


def included_headers(
  texts: Iterable[str], root: pathlib.Path, prefixes: tuple[str, ...]
) -> dict[str, bytes]:
  """Finds headers that sources include, and all that those include in turn.

  Conditions of the preprocessor are ignored, so that every compiler and processor
  finds what it asks for.

  Args:
    texts: the sources.
    root: the folder that their includes are relative to.
    prefixes: how the names of the headers in question begin.

  Returns:
    Contents by name, relative to the root.
  """
  headers: dict[str, bytes] = {}
  pending = [name for text in texts for name in _INCLUDE.findall(text)]
  while pending:
    name = os.path.normpath(pending.pop())
    path = root / name
    if name in headers or not name.startswith(prefixes) or not path.is_file():
      continue
    headers[name] = path.read_bytes()
    folder = os.path.dirname(name)
    for other in _INCLUDE.findall(path.read_text("utf-8", "replace")):
      pending += [other, f"{folder}/{other}"]
  return headers


def write_tar(path: pathlib.Path, files: Mapping[str, bytes]) -> None:
  """Writes a compressed archive, contents by name, without times and owners."""
  buffer = io.BytesIO()
  with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
    for name in sorted(files):
      entry = tarfile.TarInfo(name)
      entry.size = len(files[name])
      tar.addfile(entry, io.BytesIO(files[name]))
  path.write_bytes(gzip.compress(buffer.getvalue(), mtime=0))


def write_sdist(
  files: Mapping[str, bytes],
  headers: Mapping[str, pathlib.Path],
  licenses: Iterable[str],
  output_dir: pathlib.Path,
) -> pathlib.Path:
  """Writes the sdist.

  Args:
    files: contents by name; pyproject.toml and its readme are among them.
    headers: the folders with headers of other projects.
    licenses: the names of the license files.
    output_dir: where to.

  Returns:
    The sdist's path.
  """
  project = tomllib.loads(files["pyproject.toml"].decode())["project"]
  metadata.check_licenses(project, licenses)
  readme = files[project["readme"]].decode()
  contents = {
    **files,
    "PKG-INFO": metadata.metadata(project, readme, licenses).encode(),
  }
  sources = [
    content.decode()
    for name, content in files.items()
    if name.endswith((".cc", ".h"))
  ]
  for folder, root in headers.items():
    found = included_headers(sources, root, _PROJECTS[folder])
    if not found:
      raise ValueError(
        f"headers of {folder} are {root}: it must have some that the sources "
        "include"
      )
    for name, content in found.items():
      contents[f"third_party/include/{folder}/{name}"] = content
  stem = f"{metadata.distribution(project)}-{project['version']}"
  path = output_dir / f"{stem}.tar.gz"
  write_tar(path, {f"{stem}/{name}": text for name, text in contents.items()})
  return path


def main() -> None:
  parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
  parser.add_argument("--manifest", type=pathlib.Path, required=True)
  parser.add_argument("--output_dir", type=pathlib.Path, required=True)
  parser.add_argument("--license", action="append")
  parser.add_argument("--headers", action="append", metavar="PROJECT=FOLDER")
  arguments = parser.parse_args()
  lines = arguments.manifest.read_text().splitlines()
  write_sdist(
    {
      name: pathlib.Path(path).read_bytes()
      for name, path in (line.split("=", 1) for line in lines)
    },
    {
      name: pathlib.Path(path)
      for name, path in (option.split("=", 1) for option in arguments.headers)
    },
    arguments.license,
    arguments.output_dir,
  )


if __name__ == "__main__":
  main()
