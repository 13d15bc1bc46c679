"""Makes a component of a project: ``python -m capstan_sdk.build PROJECT --wit DIR --out FILE``.

``capstan ext build`` calls this with a Python that has componentize-py beside it. It imports the author's module natively to see what
it declares, writes a world with exactly those exports and a small entry, and has componentize-py make the component.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import traceback
from pathlib import Path
from typing import Any, List, NoReturn, Optional, Sequence

from . import _host, _registry
from ._registry import Declared

_CONTRACT = "capstan:extension@0.1.0"


class _NotYet:
    """The host while a module is imported: there is none, and what it would answer would be frozen into the component."""

    def __getattr__(self, call: str) -> Any:
        def refuse(*_: Any) -> NoReturn:
            raise RuntimeError(
                "a module asks the host while it is imported, which happens once, when the component is built; "
                "ask inside of a function"
            )

        return refuse


class BuildError(Exception):
    """Why there is no component, for the author."""


def look(module: str, python_path: Sequence[Path]) -> Declared:
    """Imports a module and answers what it declares. Raises `BuildError`."""
    for folder in reversed(python_path):
        sys.path.insert(0, str(folder))
    before = _host.swap(_NotYet())
    try:
        importlib.import_module(module)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name == module:
            raise BuildError(
                f"there is no module `{module}` in {python_path[0]}; name it in pyproject.toml: "
                '[tool.capstan] module = "…"'
            ) from None
        # Only the author's own lines: those of the import machinery say nothing.
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
        where = "".join(traceback.format_list(frames[1:]))
        reason = f"{type(error).__name__}: {error}"
        raise BuildError(f"the module `{module}` cannot be imported\n{where}{reason}") from None
    finally:
        _host.swap(before)
    declared = _registry.current()
    if declared.interfaces() == ["extension"]:
        raise BuildError(f"the module `{module}` declares nothing; decorate a function with @tool, for example")
    return declared


def world(declared: Declared) -> str:
    """The world of a component that exports exactly what is declared."""
    exports = "".join(f"  export {name};\n" for name in declared.interfaces() if name != "extension")
    return f"package {_CONTRACT};\n\nworld declared {{\n  include base;\n{exports}}}\n"


def entry(module: str, declared: Declared, id: str, version: str) -> str:
    """The module that componentize-py starts with."""
    classes = ", ".join(
        "".join(word.capitalize() for word in interface.split("-")) for interface in declared.interfaces()
    )
    return (
        f"import {module}\n"
        "from capstan_sdk import _guest\n"
        f"from capstan_sdk._guest import {classes}\n\n"
        f"_guest.begin({id!r}, {version!r}, {declared.needs_wasi()!r})\n"
    )


def build(
    project: Path,
    module: str,
    wit: Path,
    out: Path,
    dependencies: Optional[Path] = None,
    id: str = "",
    version: str = "0.0.0",
) -> Declared:
    """Builds a component and answers what it declares. Raises `BuildError`."""
    source = project / "src" if (project / "src").is_dir() else project
    sdk = Path(__file__).resolve().parent.parent
    python_path = [source, *([dependencies] if dependencies else []), sdk]
    declared = look(module, python_path)
    with tempfile.TemporaryDirectory(prefix="capstan-python-") as folder:
        scratch = Path(folder)
        contract = scratch / "wit"
        contract.mkdir()
        for file in sorted(wit.glob("*.wit")):
            (contract / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
        (contract / "declared.wit").write_text(world(declared), encoding="utf-8")
        app = scratch / "app"
        app.mkdir()
        (app / "capstan_entry.py").write_text(entry(module, declared, id, version), encoding="utf-8")
        # Without an environment of its own it would put this interpreter's packages into the component's reach.
        (scratch / "environment" / "site-packages").mkdir(parents=True)
        command = [componentize(), "-d", str(contract), "-w", "declared", "componentize"]
        if not declared.needs_wasi():
            command.append("--stub-wasi")
        for one in [app, source, *([dependencies] if dependencies else []), sdk]:
            command += ["-p", str(one)]
        made = scratch / "component.wasm"
        environment = {**os.environ, "VIRTUAL_ENV": str(scratch / "environment")}
        done = subprocess.run(
            [*command, "capstan_entry", "-o", str(made)],
            cwd=scratch,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode != 0 or not made.is_file():
            raise BuildError(f"componentize-py made no component (exit {done.returncode}):\n{done.stdout.strip()}")
        out.parent.mkdir(parents=True, exist_ok=True)
        # In two steps: a reader of the folder sees the old file or the new one.
        part = out.with_name(f".{out.name}.part")
        part.write_bytes(made.read_bytes())
        part.replace(out)
    return declared


def componentize() -> str:
    """The program beside this Python. Raises `BuildError`."""
    name = "componentize-py.exe" if os.name == "nt" else "componentize-py"
    program = Path(sysconfig.get_path("scripts")) / name
    if not program.is_file():
        raise BuildError(f"there is no {program}; install it: {sys.executable} -m pip install componentize-py==0.25.1")
    return str(program)


def main(arguments: Optional[List[str]] = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m capstan_sdk.build", description="Makes a component of a project.")
    parser.add_argument("project", type=Path, help="the project's folder")
    parser.add_argument("--module", help="the module that declares the extension; without it the project's name")
    parser.add_argument("--wit", type=Path, required=True, help="the folder of the contract")
    parser.add_argument("--out", type=Path, required=True, help="the component to write")
    parser.add_argument("--dependencies", type=Path, help="a folder with packages that the project needs")
    parser.add_argument("--id", default="", help="the extension's id where the module names none")
    parser.add_argument("--version", default="0.0.0", help="its version where the module names none")
    options = parser.parse_args(arguments)
    module = options.module or re.sub(r"[^a-z0-9_]", "_", options.project.resolve().name.lower())
    try:
        build(
            options.project.resolve(),
            module,
            options.wit,
            options.out,
            options.dependencies,
            options.id,
            options.version,
        )
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
