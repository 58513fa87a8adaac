"""Reads what is measured."""
