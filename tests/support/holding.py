"""Another process that holds something until it is told to end."""

import subprocess
import sys


class Holder:
    """It runs ``before``, holds what ``held`` names in a ``with``, and says so; killed or ended, it lets go."""

    def __init__(self, before: str, held: str):
        code = f"import sys\n{before}\nwith {held}:\n    print('held', flush=True)\n    sys.stdin.read()"
        self.process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"held\n"

    def end(self) -> None:
        self.process.communicate(timeout=20)
