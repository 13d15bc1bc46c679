"""Two tools: one says what is in a file, the other asks it."""

from __future__ import annotations

from typing import Annotated, Any, Dict, List

from capstan_sdk import Limits, Request, ToolResult, extension, tool

from . import reading
from .query import Aggregate, Condition, Limit, Order, ask, number, text

#: Letters of one value in an answer; a longer one is cut.
MAX_CELL = 200
#: Letters of an answer; rows that do not fit are left out, which is said.
MAX_TEXT = 40_000

extension(
    summary="Queries over CSV and JSON files of the workspace.",
    requests=[Request.read_directory(".", "It reads the CSV and JSON files that the model asks about.")],
)

File = Annotated[str, "A .csv, .tsv, .json or .jsonl file, relative to the workspace."]


@tool
def table_query(
    file: File,
    columns: Annotated[List[str], "Which columns to show; none: all."] = [],
    where: Annotated[List[Condition], "Conditions that a row must all fulfil."] = [],
    group_by: Annotated[List[str], "One row for each combination of values of these columns."] = [],
    aggregates: Annotated[List[Aggregate], "Numbers over each group, or over all rows where nothing is grouped."] = [],
    sort: Annotated[List[Order], "The most important column first. Of a group: `sum(price)` and the like."] = [],
    limit: Limit = 50,
    offset: Annotated[int, "Leave out this many rows first.", Limits(minimum=0)] = 0,
) -> ToolResult:
    """Asks a table: selects, filters, groups, sorts. Without anything but the file it shows the first rows.

    Columns of nested JSON have a dot in their names, `address.city`. Use it in place of reading the file, which may be large.
    """
    answer = ask(reading.rows(file), columns, where, group_by, aggregates, sort, limit, offset)
    shown, n_shown = _table(answer.columns, answer.rows)
    told = f"{answer.n_found} {'groups' if group_by else 'rows'} of {answer.n_read} rows read"
    if n_shown < answer.n_found:
        told += f"; shown are {n_shown} from number {offset + 1} on"
    details = {"read": answer.n_read, "found": answer.n_found, "shown": n_shown, "columns": answer.columns}
    return ToolResult.of(f"{told}\n\n{shown}", details=details)


@tool
def table_describe(file: File) -> ToolResult:
    """Says which columns a table has: what kind of values, how many are empty, how many differ, and examples."""
    n_rows = 0
    seen: Dict[str, _Column] = {}
    for row in reading.rows(file):
        n_rows += 1
        for name, value in row.items():
            seen.setdefault(name, _Column()).add(value)
    lines = [column.as_row(name, n_rows) for name, column in seen.items()]
    names = ["column", "values", "empty", "distinct", "examples"]
    shown, _ = _table(names, lines)
    return ToolResult.of(f"{n_rows} rows\n\n{shown}", details={"rows": n_rows, "columns": list(seen)})


class _Column:
    """What was seen of one column."""

    #: Distinct values that are counted; after that it is "more than".
    MAX_DISTINCT = 1000

    def __init__(self) -> None:
        self.n_values = 0
        self.n_numbers = 0
        self.distinct: Dict[str, None] = {}

    def add(self, value: Any) -> None:
        """Counts a value."""
        as_text = text(value)
        if not as_text:
            return
        self.n_values += 1
        self.n_numbers += number(value) is not None
        if len(self.distinct) <= self.MAX_DISTINCT:
            self.distinct[as_text[:MAX_CELL]] = None

    def as_row(self, name: str, n_rows: int) -> Dict[str, Any]:
        """The line about it."""
        kind = "mixed"
        if self.n_numbers in (0, self.n_values):
            kind = "numbers" if self.n_numbers else "texts"
        many = len(self.distinct) > self.MAX_DISTINCT
        return {
            "column": name,
            "values": kind if self.n_values else "none",
            "empty": n_rows - self.n_values,
            "distinct": f"more than {self.MAX_DISTINCT}" if many else len(self.distinct),
            "examples": ", ".join(list(self.distinct)[:3]),
        }


def _table(columns: List[str], rows: List[Dict[str, Any]]) -> "tuple[str, int]":
    """A Markdown table, and how many rows are in it."""
    lines = ["| " + " | ".join(map(_cell, columns)) + " |", "|" + " --- |" * len(columns)]
    size = sum(map(len, lines))
    for n_shown, row in enumerate(rows):
        line = "| " + " | ".join(_cell(row.get(column)) for column in columns) + " |"
        size += len(line) + 1
        if size > MAX_TEXT:
            return "\n".join(lines), n_shown
        lines.append(line)
    return "\n".join(lines), len(rows)


def _cell(value: Any) -> str:
    shown = " ".join(text(round(value, 6) if isinstance(value, float) else value).split()).replace("|", "\\|")
    return shown if len(shown) <= MAX_CELL else shown[: MAX_CELL - 1] + "…"
