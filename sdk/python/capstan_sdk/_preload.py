"""Modules of the standard library that it imports by itself while a function runs. A component holds what was imported when it was
made, and no files to import from later, so these are imported then."""

# ruff: noqa: F401
import _strptime  # type: ignore[import-not-found]
import encodings.ascii
import encodings.cp1252
import encodings.idna
import encodings.iso8859_15
import encodings.latin_1
import encodings.utf_8_sig
import encodings.utf_16
import encodings.utf_16_be
import encodings.utf_16_le
import encodings.utf_32
