"""Writes the wheel: the same bytes for the same inputs.

    python -m tools.wheel.build --manifest M --output_dir dist
      --pyproject pyproject.toml --readme docs/pypi.md
      --license LICENSE --license NOTICE ...
      --target cp313-manylinux_2_28_aarch64

Licenses are named by their paths, relative to the working directory. The manifest
has a line `name in the wheel=path` per file. auditwheel then checks that the
libraries run on the manylinux platform of the target; by default, which is this
machine, it finds the oldest that they run on. The target `any` is a wheel without
libraries. Nothing is copied into the wheel: TensorFlow brings its own library.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from typing import NamedTuple
import zipfile

from tools.wheel import metadata

# The earliest time a zip file can have.
_TIME = (1980, 1, 1, 0, 0, 0)
_EPOCH = "315532800"
_NOT_BUNDLED = "libtensorflow_framework.so.2"


class Target(NamedTuple):
  """What a wheel is for.

  Attributes:
    tag: before auditwheel has looked, e.g. "cp313-cp313-linux_aarch64".
    manylinux: the platform that the wheel gets; "auto" for the oldest that
      auditwheel finds, "" for a wheel without libraries.
  """

  tag: str
  manylinux: str = "auto"


def own_target() -> Target:
  """This machine and the Python that runs."""
  version = f"cp{sys.version_info.major}{sys.version_info.minor}"
  platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
  return Target(f"{version}-{version}-{platform}")


def parse_target(text: str) -> Target:
  """Reads a target: "any", or such as "cp313-manylinux_2_28_aarch64"."""
  if text == "any":
    return Target("py3-none-any", "")
  python, _, manylinux = text.partition("-")
  # Names of processors may have underscores.
  processor = manylinux.split("_", 3)[3]
  return Target(f"{python}-{python}-linux_{processor}", manylinux)


def _runs_on(repaired: str, manylinux: str) -> bool:
  """Whether a platform that auditwheel found is no newer than another one."""
  pattern = re.compile(r"manylinux_(\d+)_(\d+)_")
  oldest = min(tuple(map(int, x)) for x in pattern.findall(repaired))
  return oldest <= tuple(map(int, pattern.findall(manylinux)[0]))


def _record_line(name: str, content: bytes) -> str:
  digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
  return f"{name},sha256={digest.decode().rstrip('=')},{len(content)}"


def write_zip(path: pathlib.Path, files: dict[str, bytes], info: str) -> None:
  """Writes a wheel.

  Args:
    path: the wheel.
    files: contents by name, without RECORD.
    info: the name of the .dist-info directory; its files come last.
  """
  record = f"{info}/RECORD"
  names = sorted(files, key=lambda name: (name.startswith(info), name))
  lines = [_record_line(name, files[name]) for name in names]
  text = "\n".join([*lines, f"{record},,", ""])
  contents = {name: files[name] for name in names} | {record: text.encode()}
  with zipfile.ZipFile(path, "w") as archive:
    for name, content in contents.items():
      entry = zipfile.ZipInfo(name, _TIME)
      entry.compress_type = zipfile.ZIP_DEFLATED
      mode = 0o755 if name.endswith(".so") else 0o644
      entry.external_attr = (0o100000 | mode) << 16
      archive.writestr(entry, content, compresslevel=9)


def write_wheel(
  files: dict[str, bytes],
  pyproject: str,
  readme: str,
  licenses: dict[str, str],
  output_dir: pathlib.Path,
  target: Target,
) -> pathlib.Path:
  """Writes the wheel with the platform tag that auditwheel starts from.

  Args:
    files: contents by name.
    pyproject: the text of pyproject.toml.
    readme: the long description.
    licenses: texts of licenses by their paths in the repository.
    output_dir: where to.
    target: what the wheel is for.

  Returns:
    The wheel's path.
  """
  project = tomllib.loads(pyproject)["project"]
  metadata.check_licenses(project, licenses)
  stem = f"{metadata.distribution(project)}-{project['version']}"
  info = f"{stem}.dist-info"
  texts = {
    "METADATA": metadata.metadata(project, readme, licenses),
    "WHEEL": metadata.wheel(target.tag),
  } | {f"licenses/{name}": text for name, text in licenses.items()}
  own = {f"{info}/{name}": text.encode() for name, text in texts.items()}
  path = output_dir / f"{stem}-{target.tag}.whl"
  write_zip(path, files | own, info)
  return path


def repair(wheel: pathlib.Path, output_dir: pathlib.Path) -> bool:
  """Writes the wheel again with its manylinux tag; False if it cannot."""
  environment = {
    "PATH": os.pathsep.join([os.path.dirname(sys.executable), "/usr/bin"]),
    "SOURCE_DATE_EPOCH": _EPOCH,
  }
  result = subprocess.run(
    [
      *(sys.executable, "-m", "auditwheel", "repair", "--plat", "auto"),
      *("--exclude", _NOT_BUNDLED, "-w", str(output_dir), str(wheel)),
    ],
    env=environment,
    umask=0o022,  # The wheel has modes of the folders that auditwheel makes.
    capture_output=True,
    text=True,
    check=False,
  )
  if result.returncode:
    print(f"auditwheel: {result.stderr.strip()}", file=sys.stderr)
  return result.returncode == 0


def build(
  files: dict[str, bytes],
  pyproject: str,
  readme: str,
  licenses: dict[str, str],
  output_dir: pathlib.Path,
  target: Target,
) -> None:
  """Writes the wheel, with a manylinux tag where auditwheel gives one.

  Args:
    files: contents by name.
    pyproject: the text of pyproject.toml.
    readme: the long description.
    licenses: texts of licenses by their paths in the repository.
    output_dir: where to.
    target: what the wheel is for.

  Raises:
    SystemExit: the wheel cannot have the manylinux platform of the target.
  """
  parts = (files, pyproject, readme, licenses)
  if not target.manylinux:
    write_wheel(*parts, output_dir, target)
    return
  with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    wheel = write_wheel(*parts, folder, target)
    if target.manylinux == "auto":
      if not repair(wheel, output_dir):
        print("The wheel keeps the tag of this machine.", file=sys.stderr)
        (output_dir / wheel.name).write_bytes(wheel.read_bytes())
      return
    # auditwheel finds a platform for any processor, but checks a given one for
    # this machine's alone.
    found = folder / "repaired"
    if not repair(wheel, found) or not _runs_on(
      next(found.iterdir()).name, target.manylinux
    ):
      raise SystemExit(f"{wheel.name} cannot be a {target.manylinux} wheel")
  python, abi, _ = target.tag.split("-")
  tag = f"{python}-{abi}-{target.manylinux}"
  write_wheel(*parts, output_dir, target._replace(tag=tag))


def main() -> None:
  parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
  for name in ("manifest", "pyproject", "readme", "output_dir"):
    parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
  parser.add_argument("--license", type=pathlib.Path, action="append")
  parser.add_argument("--target", type=parse_target, default=own_target())
  arguments = parser.parse_args()
  files = {}
  for line in arguments.manifest.read_text().splitlines():
    name, _, path = line.partition("=")
    files[name] = pathlib.Path(path).read_bytes()
  arguments.output_dir.mkdir(parents=True, exist_ok=True)
  build(
    files,
    arguments.pyproject.read_text(),
    arguments.readme.read_text(),
    {path.as_posix(): path.read_text() for path in arguments.license},
    arguments.output_dir,
    arguments.target,
  )


if __name__ == "__main__":
  main()
