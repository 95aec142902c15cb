"""The command line: one file and one function per command, of the same name."""

from hierseed.cli.app import main, run

__all__ = ["main", "run"]
