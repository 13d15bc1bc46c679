import json
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import table.extension  # noqa: F401
from capstan_sdk import ToolResult, testing
from table import query, reading

SALES = """\
region,product,price,sold
north,apple,1.50,10
south,apple,1.40,
north,pear,2.00,7
west,"plum, dried",10,3
"""


class Workspace(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        patch = mock.patch.object(reading, "WORKSPACE", self.folder)
        patch.start()
        self.addCleanup(patch.stop)
        self.write("sales.csv", SALES)

    def write(self, name: str, content: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    def ask(self, file: str = "sales.csv", **arguments: Any) -> ToolResult:
        return testing.call_tool("table_query", file=file, **arguments)

    def cells(self, file: str = "sales.csv", **arguments: Any) -> "list[list[str]]":
        result = self.ask(file, **arguments)
        self.assertFalse(result.is_error, result.text)
        lines = result.text.split("\n\n", 1)[1].splitlines()[2:]
        return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


class Asking(Workspace):
    def test_a_file_alone_shows_its_first_rows(self) -> None:
        result = self.ask(limit=2)
        self.assertIn("4 rows of 4 rows read; shown are 2 from number 1 on", result.text)
        self.assertIn("| north | apple | 1.50 | 10 |", result.text)
        self.assertEqual(result.details["columns"], ["region", "product", "price", "sold"])

    def test_columns_conditions_and_order(self) -> None:
        dear = {"column": "price", "op": ">=", "value": 1.5}
        rows = self.cells(columns=["product"], where=[dear], sort=[{"column": "price", "descending": True}])
        # By number: as texts, 10 would come before 2.
        self.assertEqual(rows, [["plum, dried"], ["pear"], ["apple"]])

    def test_every_operator(self) -> None:
        def products(column: str, op: str, value: Any = None) -> "list[str]":
            return [row[0] for row in self.cells(columns=["product"], where=[{"column": column, "op": op, "value": value}])]

        self.assertEqual(products("sold", "empty"), ["apple"])
        self.assertEqual(products("sold", "not_empty"), ["apple", "pear", "plum, dried"])
        self.assertEqual(products("price", "=", 2), ["pear"])
        self.assertEqual(products("price", "!=", "2.0"), ["apple", "apple", "plum, dried"])
        self.assertEqual(products("sold", "<", 10), ["pear", "plum, dried"])
        self.assertEqual(products("region", ">", "north"), ["apple", "plum, dried"])
        self.assertEqual(products("product", "contains", "PL"), ["apple", "apple", "plum, dried"])
        self.assertEqual(products("product", "starts_with", "p"), ["pear", "plum, dried"])
        self.assertEqual(products("product", "ends_with", "ed"), ["plum, dried"])
        self.assertEqual(products("region", "in", ["west", "south"]), ["apple", "plum, dried"])

    def test_groups_and_their_numbers(self) -> None:
        aggregates = [{"function": "count"}, {"function": "sum", "column": "sold"}, {"function": "max", "column": "price"}]
        rows = self.cells(group_by=["region"], aggregates=aggregates, sort=[{"column": "sum(sold)", "descending": True}])
        self.assertEqual(rows, [["north", "2", "17", "2.00"], ["west", "1", "3", "10"], ["south", "1", "0", "1.40"]])
        everything = [{"function": "mean", "column": "sold"}, {"function": "distinct", "column": "product"}]
        self.assertEqual(self.cells(aggregates=everything), [["6.666667", "3"]])

    def test_a_group_of_nothing_is_counted_as_none(self) -> None:
        nobody = [{"column": "region", "op": "=", "value": "moon"}]
        self.assertEqual(self.cells(where=nobody, aggregates=[{"function": "count"}]), [["0"]])

    def test_what_is_empty_is_last_in_either_order(self) -> None:
        for descending in (False, True):
            rows = self.cells(columns=["sold"], sort=[{"column": "sold", "descending": descending}])
            self.assertEqual(rows[-1], [""])

    def test_the_schema_tells_the_model_what_to_write(self) -> None:
        schema = testing.describe()["tools"]["table_query"]["parameters"]
        condition = schema["properties"]["where"]["items"]
        self.assertEqual(condition["required"], ["column", "op"])
        self.assertIn("contains", condition["properties"]["op"]["enum"])
        self.assertEqual(schema["properties"]["limit"]["maximum"], 500)


class Reading(Workspace):
    def test_json_lists_and_lines_with_members_of_members(self) -> None:
        people = [{"name": "Ada", "home": {"city": "London"}}, {"name": "Bo", "tags": ["x"]}]
        self.write("people.json", json.dumps(people))
        self.write("wrapped.json", json.dumps({"total": 2, "people": people}))
        self.write("people.jsonl", "\n".join(map(json.dumps, people)) + "\n\n")
        for file in ("people.json", "wrapped.json", "people.jsonl"):
            self.assertEqual(self.cells(file), [["Ada", "London", ""], ["Bo", "", '["x"]']], file)

    def test_other_separators_and_the_mark_of_spreadsheets(self) -> None:
        self.write("german.csv", "\ufeffname;preis\nApfel;1,5\n")
        self.assertEqual(self.cells("german.csv", columns=["name"]), [["Apfel"]])
        self.write("tabs.tsv", "a\tb\n1\t2,3\n")
        self.assertEqual(self.cells("tabs.tsv"), [["1", "2,3"]])

    def test_names_that_are_missing_or_double_get_numbers(self) -> None:
        self.write("odd.csv", "a,,a\n1,2,3\n")
        self.assertEqual(self.ask("odd.csv").details["columns"], ["a", "column_2", "a_3"])

    def test_errors_say_what_would_help(self) -> None:
        def told(file: str = "sales.csv", **arguments: Any) -> str:
            result = self.ask(file, **arguments)
            self.assertTrue(result.is_error, result.text)
            self.assertNotIn("Error:", result.text)
            return result.text

        self.assertIn("there is sales.csv", told("sale.csv"))
        self.assertIn("there is no column `prise`; there is `region`", told(columns=["prise"]))
        self.assertIn("outside of the workspace", told("../other.csv"))
        self.assertIn("outside of the workspace", told("/etc/passwd.csv"))
        self.assertIn("none of .csv", told("sales.xlsx") if self.write("sales.xlsx", "x") is None else "")
        self.assertIn("needs numbers", told(aggregates=[{"function": "sum", "column": "region"}]))
        self.assertIn("takes a list", told(where=[{"column": "region", "op": "in", "value": "x"}]))
        self.assertIn("`op`", told(where=[{"column": "region", "value": "x"}]))
        self.write("ragged.csv", "a,b\n1,2,3\n")
        self.assertIn("line 2 has 3 values for 2 columns", told("ragged.csv"))
        self.write("open.csv", 'a\n"never closed\n')
        self.assertIn("cannot be read", told("open.csv"))
        self.write("broken.jsonl", '{"a": 1}\n{oops}\n')
        self.assertIn("line 2 is no JSON", told("broken.jsonl"))
        (self.folder / "latin.csv").write_bytes(b"name\n\xe4\n")
        self.assertIn("not UTF-8", told("latin.csv"))

    def test_without_a_grant_it_says_what_would_give_it_one(self) -> None:
        with mock.patch.object(reading, "WORKSPACE", Path("/nowhere")):
            self.assertIn("capstan ext allow table", self.ask().text)

    def test_files_and_answers_have_bounds(self) -> None:
        with mock.patch.object(reading, "MAX_BYTES", 10):
            self.assertIn("may have 10", self.ask().text)
        with mock.patch.object(query, "MAX_ROWS", 2):
            self.assertIn("narrow them with `where`", self.ask().text)
        self.write("long.csv", "a\n" + "x" * 1000 + "\n")
        self.assertEqual(len(self.cells("long.csv")[0][0]), 200)
        with mock.patch.object(table.extension, "MAX_TEXT", 120):
            self.assertLess(self.ask().details["shown"], 4)


class Describing(Workspace):
    def test_columns_are_told_with_kinds_and_examples(self) -> None:
        told = testing.call_tool("table_describe", file="sales.csv").text
        self.assertIn("| price | numbers | 0 | 4 | 1.50, 1.40, 2.00 |", told)
        self.assertIn("| sold | numbers | 1 | 3 | 10, 7, 3 |", told)
        self.assertIn("| region | texts | 0 | 3 | north, south, west |", told)

    def test_numbers_are_those_of_tables(self) -> None:
        for value, expected in [("1", 1), (" -2.5 ", -2.5), ("1e3", 1000), ("1,000", None), ("nan", None), ("", None), (True, None)]:
            self.assertEqual(query.number(value), expected, value)


if __name__ == "__main__":
    unittest.main()
