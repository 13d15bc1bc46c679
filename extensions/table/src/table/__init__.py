"""Queries over CSV and JSON files."""
