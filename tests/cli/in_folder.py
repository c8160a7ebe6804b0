"""Tests that have a folder of their own."""
import os
import pathlib
import tempfile
import unittest


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def save(self, name, data):
        file = self.folder / name
        file.write_bytes(data)
        return file

    def files(self):
        return sorted(os.listdir(self.folder))
