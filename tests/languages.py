"""Other languages than Python: where their tools are, and what happens where they are not.

A test is skipped where a tool is missing, unless the environment's PRIAL_MUST_RUN names the language: then it fails.
`.ci/run` names all that it could make ready, so that nothing is skipped there unseen.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from project.source_tree import ROOT

MUST_RUN = "PRIAL_MUST_RUN"
NODE = shutil.which("node")
C_COMPILER = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
BOTS = ROOT / "tests" / "bots"
# Mono's compiler reads C# 7.3; the sources of the runtime are newer in a few places.
_PLAINER = (
    (r"\bis null\b", "== null"),
    (r"(\w[\w.]*) is not (\w+)", r"!(\1 is \2)"),
    (r"\busing var\b", "var"),
    (r"\(static (\w+) =>", r"(\1 =>"),
    (r": unmanaged\b", ": struct"),
    (r"(DisposableList<OrtValue>) (\w+) = new\(", r"\1 \2 = new \1("),
    (r"(\w+)\.Span\[(\w+)\] = (.+?);", r"{ var written = \1.Span; written[\2] = \3; }"),
    (r"dimensions\[0\] = dimensions\[1\] = (\w+);", r"dimensions[0] = \1; dimensions[1] = \1;"),
)


def need(language: str, *, there: bool, what: str) -> None:
    """Skip the test where something is missing, or fail it where the language must run."""
    if there:
        return
    if language in os.environ.get(MUST_RUN, "").split():
        pytest.fail(f"needs {what}; {MUST_RUN} names {language}")
    pytest.skip(f"needs {what}")


def c_program(source: Path, folder: Path) -> list[str]:
    """Compile a C program and return the command that runs it."""
    need("c", there=C_COMPILER is not None, what="a C compiler")
    strict = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2"]
    subprocess.run([C_COMPILER, *strict, "-o", str(folder / source.stem), str(source)], check=True)
    return [str(folder / source.stem)]


def node_program(source: Path, *, packages: bool = False) -> list[str]:
    """Return the command that runs a JavaScript program, from `BOTS` / "javascript" if it needs packages."""
    need("javascript", there=NODE is not None, what="Node.js")
    if packages:
        there = (BOTS / "javascript" / "node_modules").is_dir()
        need("javascript", there=there, what="onnxruntime-web (make bots)")
    return [NODE, str(source)]


def csharp_program(source: Path, folder: Path) -> list[str]:
    """Compile a C# program that plays ONNX files, with Mono, and return the command that runs it.

    The managed part of onnxruntime is compiled from the sources that `make bots` fetches; the native one is Python's.
    """
    import onnxruntime

    compiler, runtime = shutil.which("mcs"), shutil.which("mono")
    need("csharp", there=compiler is not None and runtime is not None, what="Mono (mcs and mono)")
    sources = BOTS / "csharp" / "node_modules" / "com.github.asus4.onnxruntime" / "Runtime"
    need("csharp", there=sources.is_dir(), what="the sources of onnxruntime for C# (make bots)")
    native = sorted((Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*"))
    need("csharp", there=bool(native), what="an onnxruntime for Linux")
    plain = folder / "sources"
    plain.mkdir(parents=True)
    for number, path in enumerate(sorted(sources.rglob("*.cs"))):
        text = path.read_text(encoding="utf-8-sig")
        for newer, older in _PLAINER:
            text = re.sub(newer, older, text)
        (plain / f"{number:03}-{path.name}").write_text(text, encoding="utf-8")
    library = folder / "Microsoft.ML.OnnxRuntime.dll"
    quiet = [compiler, "-nologo", "-warn:0", "-langversion:latest"]
    made = ["-unsafe", "-define:NETSTANDARD2_0", "-target:library", f"-out:{library}"]
    subprocess.run([*quiet, *made, *map(str, sorted(plain.glob("*.cs")))], check=True)
    (folder / "libonnxruntime.so").symlink_to(native[-1])
    program = folder / f"{source.stem}.exe"
    used = [f"-r:{name}" for name in (library, "System.Runtime.Serialization", "System.Xml", "System.Xml.Linq")]
    subprocess.run([compiler, "-nologo", "-warnaserror", *used, f"-out:{program}", str(source)], check=True)
    return ["env", f"LD_LIBRARY_PATH={folder}", runtime, str(program)]
