"""A terminal that a program runs in, and what it shows."""
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import termios
import time

from limits import STUCK

ACTION = re.compile(rb"\x1b\[(\d+);1H|\x1b\[(2J)|\x1b\[\??[\d;]*[A-Za-z]|\x1b.")


class Terminal:
    """A context that ends the program."""

    def __init__(self, *command, rows=24, columns=80):
        self.rows = {}
        self.raw = b""
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))
            os.execv(command[0], list(map(str, command)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.end)

    def resize(self, rows, columns):
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def type(self, keys):
        os.write(self.end, keys)

    def take(self):
        """Takes in what was written. False when there will be no more."""
        try:
            block = os.read(self.end, 65536)
        except OSError:
            return False
        self.raw += block
        # Each row is written from its begin; what is cut is completed by the next block.
        at, row = 0, None
        whole = self.raw[self.raw.rfind(b"\x1b[2J") if b"\x1b[2J" in self.raw else 0:]
        self.rows = {}
        for action in ACTION.finditer(whole):
            if row is not None:
                self.rows[row] = whole[at:action.start()].decode(errors="replace")
            row, at = (int(action[1]) if action[1] else None), action.end()
        if row is not None:
            self.rows[row] = whole[at:].decode(errors="replace")
        return bool(block)

    def until(self, shown, what):
        """Waits until that is true of the rows, from 1 on."""
        end = time.monotonic() + STUCK
        while not (found := shown(self.rows)):
            assert time.monotonic() < end, f"never: {what}; {self.rows}"
            if select.select([self.end], [], [], 0.1)[0]:
                assert self.take(), f"it ended before {what}; {self.rows}"
        return found

    def row(self, number, pattern):
        return self.until(lambda rows: re.search(pattern, rows.get(number, "")), f"row {number}: {pattern}")

    def is_quiet(self, seconds):
        """Whether nothing is written for so long, nor worked upon."""
        def woken():
            status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
            return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.MULTILINE)[1])
        before = woken()
        return not select.select([self.end], [], [], seconds)[0] and woken() - before <= 2

    def ended(self):
        """The exit code."""
        while self.take():
            pass
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)
