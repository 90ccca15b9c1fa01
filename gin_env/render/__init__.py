"""Drawings of the table from one seat's View."""
