"""Files into rows, one after another: what a query does not keep is never held."""

from __future__ import annotations

import csv
import json
import os
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, Dict, Iterator, List, TextIO

from capstan_sdk import ToolError

#: A row. Values are what JSON has; those of CSV files are texts.
Row = Dict[str, Any]

#: Where the sandbox shows the workspace.
WORKSPACE = Path("/workspace")

#: A file of rows is read row by row, and in half of a tool's 30 s. One that is a single JSON list must be held as a whole, in a quarter
#: of a tool's memory.
MAX_BYTES = 32 << 20
MAX_JSON_BYTES = 8 << 20

FORMATS = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl"}


def rows(name: str) -> Iterator[Row]:
    """The rows of a file in the workspace. Raises `ToolError` for a file that cannot be one of rows."""
    path = locate(name)
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise ToolError(f"`{name}` is none of {', '.join(FORMATS)}")
    bound = MAX_JSON_BYTES if kind == "json" else MAX_BYTES
    size = path.stat().st_size
    if size > bound:
        raise ToolError(f"`{name}` has {size} bytes; a {kind} file may have {bound}")
    # A mark at the beginning is what spreadsheets write; it is not part of the first name.
    with open(path, encoding="utf-8-sig", newline="") as file:
        try:
            yield from _READERS[kind](file)
        except UnicodeDecodeError as error:
            raise ToolError(f"`{name}` is not UTF-8: {error.reason} at byte {error.start}") from None
        except (csv.Error, json.JSONDecodeError) as error:
            raise ToolError(f"`{name}` cannot be read: {error}") from None


def locate(name: str) -> Path:
    """The path of a file in the workspace."""
    if not WORKSPACE.is_dir():
        raise ToolError("no folder is granted; the user can grant it: capstan ext allow table")
    asked = PurePosixPath(name)
    if asked.is_absolute():
        try:
            asked = asked.relative_to("/workspace")
        except ValueError:
            raise ToolError(f"`{name}` is outside of the workspace; name the file relative to it") from None
    if ".." in asked.parts:
        raise ToolError(f"`{name}` is outside of the workspace; name the file relative to it")
    path = WORKSPACE / asked
    if path.is_file():
        return path
    there = _tables(path.parent if path.parent.is_dir() else WORKSPACE)
    hint = f"; there is {', '.join(there)}" if there else ""
    raise ToolError(f"`{name}` is no file{hint}")


def _tables(folder: Path) -> List[str]:
    """Some files of a folder that a query could name."""
    found = sorted(entry.name for entry in os.scandir(folder) if Path(entry.name).suffix.lower() in FORMATS)
    below = "" if folder == WORKSPACE else f"{folder.relative_to(WORKSPACE)}/"
    return [below + name for name in found[:10]]


def _separated(file: TextIO, delimiter: str = "") -> Iterator[Row]:
    first = file.readline()
    if not first.strip():
        raise ToolError("the file has no header line")
    if not delimiter:
        # The header has no numbers with commas in them, so what it holds most of is what separates.
        delimiter = max(",;\t|", key=first.count)
    reader = csv.reader(chain([first], file), delimiter=delimiter, strict=True)
    names = _distinct([name.strip() for name in next(reader)])
    for values in reader:
        if not values:
            continue
        if len(values) > len(names):
            raise ToolError(f"line {reader.line_num} has {len(values)} values for {len(names)} columns")
        yield dict(zip(names, values + [""] * (len(names) - len(values))))


def _distinct(names: List[str]) -> List[str]:
    """Names of columns: one that is empty or taken gets its number."""
    taken: List[str] = []
    for at, name in enumerate(names, 1):
        name = name or f"column_{at}"
        taken.append(f"{name}_{at}" if name in taken else name)
    return taken


def _list(file: TextIO) -> Iterator[Row]:
    value = json.load(file)
    if isinstance(value, dict):
        lists = [one for one in value.values() if isinstance(one, list)]
        value = lists[0] if len(lists) == 1 else value
    if not isinstance(value, list):
        raise ToolError("the JSON is no list of objects, and no object with one such list")
    for at, one in enumerate(value, 1):
        yield _flat(one, f"element {at}")


def _lines(file: TextIO) -> Iterator[Row]:
    for at, line in enumerate(file, 1):
        if line.strip():
            try:
                value = json.loads(line)
            except json.JSONDecodeError as error:
                raise ToolError(f"line {at} is no JSON: {error}") from None
            yield _flat(value, f"line {at}")


def _flat(value: Any, place: str) -> Row:
    """An object as a row; members of members are columns with a dot in their names."""
    if not isinstance(value, dict):
        raise ToolError(f"{place} is no object")
    row: Row = {}
    for name, inner in value.items():
        if isinstance(inner, dict):
            row.update({f"{name}.{below}": one for below, one in _flat(inner, place).items()})
        else:
            row[name] = inner
    return row


_READERS = {
    "csv": _separated,
    "tsv": lambda file: _separated(file, "\t"),
    "json": _list,
    "jsonl": _lines,
}
