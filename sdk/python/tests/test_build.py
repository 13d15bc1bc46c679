"""What a build makes of a module, up to the call of componentize-py."""

import doctest
import importlib
import pkgutil
import sys
import tempfile
import unittest
from contextlib import ExitStack
from pathlib import Path

import capstan_sdk
from capstan_sdk import build, testing


def look(source: str) -> "build.Declared":
    """Declares a module from source, as a build does."""
    before = list(sys.path)
    with tempfile.TemporaryDirectory() as folder, testing.fresh():
        (Path(folder) / "looked_at.py").write_text(source, encoding="utf-8")
        try:
            return build.look("looked_at", [Path(folder)])
        finally:
            sys.modules.pop("looked_at", None)
            sys.path[:] = before
            importlib.invalidate_caches()


TOOL = "from capstan_sdk import *\n\n@tool\ndef t() -> str:\n    '''T.'''\n    return ''\n"
GATE = "@before_tool_call\ndef g(call):\n    return Pass()\n"


class Looking(unittest.TestCase):
    def test_a_component_exports_what_is_declared_and_no_more(self) -> None:
        world = build.world(look(TOOL + GATE))
        self.assertIn("world declared {\n  include base;\n  export tools;\n  export before-tool-call;\n}", world)
        entry = build.entry("looked_at", look(TOOL + GATE), "an-id", "1.0.0")
        self.assertIn("import Extension, Tools, BeforeToolCall\n", entry)
        self.assertIn("begin('an-id', '1.0.0', False)", entry)

    def test_the_system_is_there_for_what_comes_through_it_alone(self) -> None:
        request = "extension(requests=[Request.{}])\n"
        self.assertTrue(look(TOOL + request.format("read_directory('.', 'why')")).needs_wasi())
        self.assertFalse(look(TOOL + request.format("key_value(1, 'why')")).needs_wasi())

    def test_errors_are_the_author_s_own_lines(self) -> None:
        for source, words in [
            ("import nothing_of_that_name\n", ["looked_at", "ModuleNotFoundError", "line 1"]),
            ("from capstan_sdk import log\nlog.info('early')\n", ["asks the host", "line 2"]),
            ("x = 1\n", ["declares nothing"]),
            ("from capstan_sdk import tool\n@tool\ndef t(): pass\n", ["docstring"]),
            ("def broken(:\n", ["SyntaxError"]),
        ]:
            with self.subTest(source=source), self.assertRaises(build.BuildError) as raised:
                look(source)
            for word in words:
                self.assertIn(word, str(raised.exception))
        with self.assertRaisesRegex(build.BuildError, "there is no module `missing`"):
            build.look("missing", [Path("/nowhere")])


def load_tests(loader: unittest.TestLoader, tests: unittest.TestSuite, pattern: object) -> unittest.TestSuite:
    """The examples in the documentation, each module's in a registry of its own."""
    for module in pkgutil.iter_modules(capstan_sdk.__path__, "capstan_sdk."):
        if module.name.rpartition(".")[2] in ("_guest", "_wire"):
            # They exist only inside of a component.
            continue
        tests.addTest(_examples(module.name))
    tests.addTest(_examples("capstan_sdk"))
    return tests


def _examples(name: str) -> unittest.TestSuite:
    within = ExitStack()
    return doctest.DocTestSuite(
        name, setUp=lambda _: within.enter_context(testing.fresh()), tearDown=lambda _: within.close()
    )


if __name__ == "__main__":
    unittest.main()
