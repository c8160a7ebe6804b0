#!/usr/bin/env python3
"""The Python module, by the clock. Usage: test_speed.py MODULE. Exit code 77, without NumPy and pandas, is a test that was
skipped."""
import interpreter  # noqa: F401, isort: skip

import sys
import time

import numpy as np

try:
    import pandas
except ImportError:
    print("SKIPPED: there is no pandas (python3-pandas)")
    sys.exit(77)
sys.path.insert(0, sys.argv[1])
import teewire  # noqa: E402
from made_demo import Demo  # noqa: E402

CHARACTER = 9


def million_rows():
    """64 players, all of whom move."""
    demo = Demo()
    players, snapshots = 64, 15_625
    step = np.random.default_rng(5)
    items = np.zeros((players, 23), np.int32)
    items[:, 0] = (CHARACTER << 16) + np.arange(players)
    head = np.concatenate([[players * 92, players], np.arange(players) * 92])
    for tick in range(snapshots):
        items[:, 1] = tick
        items[:, 2:6] += step.integers(-20, 20, (players, 4), dtype=np.int32)
        items[:, 6] = step.integers(-400, 400, players)
        demo.snapshot_ints(2 * tick, np.concatenate([head, items.ravel()]).astype(np.int32))
    return demo.bytes(), items[-1, 2]


def seconds(work):
    """Processor time; other programs take a share of it, so the least of several counts."""
    begin = time.process_time()
    table = work()
    assert table.shape == (1_000_000, 24)
    return time.process_time() - begin, table


def main():
    """In a data frame in less than twice the time that NumPy takes to copy as many columns out of rows."""
    file, last_x = million_rows()
    rows = np.arange(24_000_000, dtype=np.int32).reshape(1_000_000, 24)

    def read():
        with teewire.open(file) as recording:
            return recording.items("character").to_pandas()

    best = floor = 1e9
    for _ in range(10):
        took, table = seconds(read)
        assert table.x.iloc[-1] == last_x
        best = min(best, took)
        took, _ = seconds(lambda: pandas.DataFrame({n: rows[:, n].copy() for n in range(24)}, copy=False))
        floor = min(floor, took)
    print(f"{len(file) / 1e6:.1f} MB, 1,000,000 rows of 24 columns: {best:.3f} s; copied by NumPy: {floor:.3f} s")
    return best >= 2 * floor


if __name__ == "__main__":
    sys.exit(main())
