import unittest

import extension
from capstan_sdk import testing


class Counting(unittest.TestCase):
    def test_words_are_what_stands_between_spaces(self) -> None:
        self.assertEqual(extension.count_words("one  two\nthree"), "3 words")

    def test_the_model_reads_why_it_did_not_work(self) -> None:
        result = testing.call_tool("count_words", text="")
        self.assertTrue(result.is_error)
        self.assertIn("`text` is empty", result.text)


if __name__ == "__main__":
    unittest.main()
