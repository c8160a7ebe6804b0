"""The state of a process, as the kernel reports it."""
import os
import pathlib
import re
import signal
import time

from limits import STUCK


def until(condition, what):
    """Waits for an event."""
    end = time.monotonic() + STUCK
    while not condition():
        assert time.monotonic() < end, f"never happened: {what}"
        time.sleep(0.001)


def catches_signals(process):
    caught = re.search(r"SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())
    return int(caught[1], 16) >> (signal.SIGTERM - 1) & 1


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def until_it_works(process):
    """Waits until it has worked for a tenth of a second, or has ended. Its start, which can take longer than that under
    sanitizers, is not work: a signal would end it at once."""
    until(lambda: process.poll() is not None or catches_signals(process), "signals are caught")
    if process.poll() is None:
        start = cpu_seconds(process)
        until(lambda: process.poll() is not None or cpu_seconds(process) >= start + 0.1, "it works")
