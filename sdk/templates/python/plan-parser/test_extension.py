import unittest

import extension  # noqa: F401
from capstan_sdk import testing


class Reading(unittest.TestCase):
    def test_numbered_lines_are_steps_and_others_are_not(self) -> None:
        raw = "Here is the plan:\n\n1. Read the file\n2) Change it\n2026 was a year.\n"
        self.assertEqual(testing.parse_plan("numbered", raw), ["Read the file", "Change it"])

    def test_a_text_without_steps_is_no_plan(self) -> None:
        with self.assertRaisesRegex(Exception, "no numbered lines"):
            testing.parse_plan("numbered", "I would rather not.")


if __name__ == "__main__":
    unittest.main()
