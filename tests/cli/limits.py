"""How long tests wait for what should have ended, in seconds of the clock. An emulator takes TEEWIRE_SLOWER times as long."""
import os
import signal

# The program inherits this, and under nohup it would go on at a hangup.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

SLOWER = int(os.environ.get("TEEWIRE_SLOWER", 1))
STUCK = 60 * SLOWER
STUCK_AT_WORK = 600 * SLOWER  # with whole recordings
