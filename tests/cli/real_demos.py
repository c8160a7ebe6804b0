"""The demos that tests read: real ones, of TEEWIRE_CORPUS, or those of a folder."""
import os
import pathlib
import sys

from in_folder import InFolder

CORPUS = pathlib.Path(os.environ.get("TEEWIRE_CORPUS", ""))


def named_or_real(arguments):
    """Those below the folder that the first argument names, or else the real ones, without which the test is skipped."""
    if arguments:
        folder = pathlib.Path(arguments[0])
    elif "TEEWIRE_CORPUS" in os.environ:
        folder = CORPUS / "demos"
    else:
        print("SKIPPED: TEEWIRE_CORPUS is not set")
        sys.exit(77)
    demos = sorted(folder.rglob("*.demo"))
    assert demos, folder
    return demos


class WithRealDemos(InFolder):
    def setUp(self):
        super().setUp()
        self.demos = sorted((CORPUS / "demos").glob("*.demo"))
        self.assertGreaterEqual(len(self.demos), 54)
