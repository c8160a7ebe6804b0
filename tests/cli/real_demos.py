"""The demos that tests read: real ones, of TEEWIRE_CORPUS, or those of a folder; and how many of them."""
import os
import pathlib
import sys

from in_folder import InFolder

CORPUS = pathlib.Path(os.environ.get("TEEWIRE_CORPUS", ""))
# Tests that take minutes read one of so many recordings.
SHARE = int(os.environ.get("TEEWIRE_SHARE") or 1)


def named_or_real(arguments):
    """Those below the folder that the first argument names, or else the real ones, without which the test is skipped."""
    if not arguments and "TEEWIRE_CORPUS" not in os.environ:
        print("SKIPPED: TEEWIRE_CORPUS is not set")
        sys.exit(77)
    folder = pathlib.Path(arguments[0]) if arguments else CORPUS / "demos"
    demos = sorted(folder.rglob("*.demo"))[::1 if arguments else SHARE]
    assert demos, folder
    return demos


class WithRealDemos(InFolder):
    def setUp(self):
        super().setUp()
        self.demos = sorted((CORPUS / "demos").glob("*.demo"))
        self.assertGreaterEqual(len(self.demos), 54)
        self.demos = self.demos[::SHARE]
