"""The command line: arguments to steps. Heavy imports wait inside the commands, so that --help is quick."""

from difftrust.cli.app import main

__all__ = ["main"]
