"""How long tests wait for what should have ended, in seconds of the clock. An emulator takes TEEWIRE_SLOWER times as long."""
import os

SLOWER = int(os.environ.get("TEEWIRE_SLOWER", 1))
STUCK = 60 * SLOWER
STUCK_AT_WORK = 600 * SLOWER  # with whole recordings
