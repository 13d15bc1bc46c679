import unittest

import extension  # noqa: F401
from capstan_sdk import Block, Pass, ToolCall, testing


def ask(path: str) -> object:
    return testing.ask_hook("before_tool_call", ToolCall.of("write", path=path, content=""))


class Guarding(unittest.TestCase):
    def test_a_lock_file_is_protected_and_another_is_not(self) -> None:
        self.assertIsInstance(ask("Cargo.lock"), Block)
        self.assertEqual(ask("src/main.rs"), Pass())

    def test_the_user_says_what_is_protected(self) -> None:
        with testing.Host(config={"protected": [".gen.ts"]}):
            self.assertEqual(ask("Cargo.lock"), Pass())
            self.assertIsInstance(ask("api.gen.ts"), Block)


if __name__ == "__main__":
    unittest.main()
