#!/usr/bin/env python3
"""What holds for every verb alike: help, options, output files, errors, exit codes, names of files. The verbs are those
that --help lists, so that a new one is tested too. Usage: test_conventions.py TEEWIRE FIXTURES"""
import contextlib
import itertools
import json
import os
import pathlib
import pty
import re
import select
import shlex
import signal
import stat
import subprocess
import sys
import time
import unittest

from limits import STUCK
from made_server import MapChanger
from in_folder import InFolder
from program import TEEWIRE, run_bytes

FIXTURES = pathlib.Path(sys.argv[2]).resolve()
GOOD = {"demo": FIXTURES / "demos/ddnet_yard.demo", "map": FIXTURES / "maps/ddnet.map",
        "xvector": FIXTURES / "maps/revision_1.xvmap", "capture": FIXTURES / "captures/ddnet_yard.pcap"}
IS = {"demo": "this is a demo", "map": "this is a map", "xvector": "this is an xVector map",
      "capture": "this is a packet capture"}
READER = {"demo": "teewire info", "map": "teewire map info", "xvector": "teewire map info", "capture": "teewire capture"}
FORMATS = {"text", "ndjson", "csv", "checksum", "demo", "srt"}
# The options that a verb needs, or that make it quick.
NEEDS = {"compress": ["--method", "gzip"], "video": ["--format", "y4m", "--size", "32x18", "--fps", "1"], "map convert": ["--level", "9"], "play": ["--speed", "1000"], "map render": ["--scale", "1"]}
NETWORK = {"record", "serve", "relay", "web"}
# Outputs that are added to are special: they have tests of their own.
GROWING = {"export", "web"}


class Verb:
    def __init__(self, name, help_text):
        self.name = name
        self.words = name.split()
        self.help = help_text
        self.options = re.findall(r"^  (?:-\w, |    )(--[a-z-]+)", help_text, re.M)
        self.grows = name in GROWING
        self.writes = "--output" in self.options and not self.grows
        # Without it, compress and decompress would write next to the fixtures.
        self.must_write = bool(re.search(r"^Usage: .* -o FILE", help_text, re.M)) or name in ("compress", "decompress")
        formats = re.search(r"^      --format ([a-z|]+)", help_text, re.M)
        self.formats = formats[1].split("|") if formats and not self.grows and not self.must_write else []
        operand = re.search(r"^  FILE(\.\.\.| FILE)? +(.*(?:\n {10,}.*)*)", help_text, re.M)
        self.reads = []
        self.several = bool(operand and operand[1] == "...")
        self.two = bool(operand and operand[1] == " FILE")
        if operand:
            words = re.sub(r"\s+", " ", operand[2])
            self.reads += ["demo"] if "demo" in words else []
            self.reads += ["map", "xvector"] if "map" in re.sub(r"for the maps? in", "", words) else []
            self.reads += ["capture"] if "pcap" in words else []

    def __repr__(self):
        return self.name

    def arguments(self, *files, output=None):
        """A command line that works, but for the files given."""
        if self.two and len([f for f in files if f != "--"]) == 1:
            files = (*files, self.good() if files[-1] == "-" else files[-1])
        return [*self.words, *NEEDS.get(self.name, []), *(["-o", output] if output else []), *files]

    def good(self, kind=None):
        return GOOD[kind or self.reads[0]]


def list_verbs(words=()):
    code, out, _ = run_bytes(*words, "--help")
    assert code == 0, words
    text = out.decode()
    if f"Usage: {' '.join(('teewire', *words))} COMMAND" not in text:
        return [Verb(" ".join(words), text)]
    names = re.findall(r"^  ([a-z][a-z-]*) ", text.partition("\nOptions:")[0], re.M)
    return list(itertools.chain.from_iterable(list_verbs((*words, name)) for name in names))


VERBS = list_verbs()
READING = [v for v in VERBS if v.reads]
OFFLINE = [v for v in VERBS if v.name not in NETWORK]
# Verbs for two files print nothing for these inputs: they have tests of their own.
# decompress reads none of these files.
WRITING = [v for v in OFFLINE if v.writes and not v.two and v.name != "decompress"]


class Conventions(InFolder):
    def for_each(self, verbs, check):
        for verb in verbs:
            with self.subTest(verb=verb):
                check(verb)

    def check_error(self, done, code, *words):
        """One line on standard error that says who speaks, and nothing on standard output."""
        self.assertEqual((done[0], done[1]), (code, b""), done)
        self.assertRegex(done[2], r"\Ateewire: [^\n]+\n(see teewire [a-z ]*--help\n)?\Z")
        for word in words:
            self.assertIn(str(word), done[2])


class Help(Conventions):
    def test_verbs(self):
        self.assertGreaterEqual(len(VERBS), 13)
        self.assertTrue(NETWORK <= {v.name for v in VERBS})
        self.assertTrue(set(NEEDS) <= {v.name for v in VERBS})

    def test_help(self):
        def check(verb):
            code, out, err = run_bytes(*verb.words, "--help")
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(run_bytes(*verb.words, "-h"), (0, out, ""))
            self.assertEqual(run_bytes("help", *verb.words), (0, out, ""))
            self.assertIn(f"Usage: teewire {verb.name} ", verb.help)
            for line in verb.help.splitlines():
                self.assertTrue(len(line) <= 80 or line.startswith("  teewire "), line)
            examples = re.findall(r"^  teewire (.*)", verb.help.partition("Examples:\n")[2], re.M)
            self.assertGreater(len(examples), 0)
            for example in examples:
                words = shlex.split(example.partition(" |")[0])
                self.assertEqual(words[:len(verb.words)], verb.words)
                for option in words:
                    if option.startswith("--"):
                        self.assertIn(option, verb.options)
        self.for_each(VERBS, check)

    def test_options(self):
        def check(verb):
            self.assertLessEqual(set(verb.formats), FORMATS)
            # The demo of a relay is not what it is for, and an index has the name of its demo.
            self.assertEqual(verb.writes or verb.grows or verb.name in ("relay", "index"), "--force" in verb.options)
            self.assertFalse({"--out", "--demo", "--overwrite", "--json", "-f"} & set(verb.options))
            if "--jobs" in verb.options:
                self.assertRegex(verb.help, r"--jobs N [^[]*\[default:\s+0\]")
            if verb.writes:
                self.assertIn("-o, --output FILE", verb.help)
                self.assertTrue(verb.must_write or verb.formats, "what is printed has a format")
            if verb.formats:
                self.assertIn("ndjson", verb.formats)
                # The first is the default, but where the output's name decides.
                if verb.name != "capture":
                    self.assertRegex(verb.help, rf"--format [a-z|]+\s+[^[]*\[default:\s+{verb.formats[0]}\]")
        self.for_each(VERBS, check)

    def test_help_that_cannot_be_printed(self):
        for arguments in (["--help"], ["--version"], *([*v.words, "--help"] for v in VERBS)):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([TEEWIRE, *arguments], stdout=full, stderr=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stderr[:25]), (3, b"teewire: standard output:"))


class Words(Conventions):
    def test_unknown_verbs(self):
        for words, nearest in ((["dumb"], "dump"), (["inof"], "info"), (["vrify"], "verify"), (["rekord"], "record"),
                               (["map", "rendr"], "render"), (["map", "chek", "--strict"], "check"), (["mpa", "info"], "map")):
            unknown = words[1] if words[0] == "map" else words[0]
            self.check_error(run_bytes(*words), 2, f"unknown command {unknown}; did you mean {nearest}?")
        self.check_error(run_bytes("help", "inof"), 2, "unknown command inof; did you mean info?")
        self.assertEqual(run_bytes("frobnicate")[2], "teewire: unknown command frobnicate\nsee teewire --help\n")
        self.check_error(run_bytes(), 2, "missing command; expected one of info, dump")
        self.check_error(run_bytes("map"), 2, "missing command; expected one of info, extract", "teewire map --help")

    def test_unknown_options(self):
        def check(verb):
            for option in verb.options:
                wrong = option[:-2] + option[-1] + option[-2] if option[-1] != option[-2] else option + "x"
                if wrong in verb.options:
                    continue
                done = run_bytes(*verb.words, wrong, "x")
                self.check_error(done, 2, f"unknown option {wrong}; did you mean {option}?", f"teewire {verb.name} --help")
            self.check_error(run_bytes(*verb.words, "-%"), 2, "unknown option -%\n")
        self.for_each(VERBS, check)

    def test_wrong_values(self):
        def check(verb):
            for option, kind in re.findall(r"^  (?:-\w, |    )(--[a-z-]+) (TIME|DURATION|N|BYTES|[a-z0-9.]+\|[a-z0-9.|]+)\s", verb.help, re.M):
                done = run_bytes(*verb.arguments(*([verb.good()] if verb.reads else [])), option, "nonsense")
                self.check_error(done, 2, option)
        self.for_each(VERBS, check)

    def test_missing_operands(self):
        def check(verb):
            if verb.reads:
                self.check_error(run_bytes(*verb.words), 2, "required")
        self.for_each(VERBS, check)


class Inputs(Conventions):
    def test_files_that_cannot_be_read(self):
        def check(verb):
            out = self.folder / "out"
            folder = (2, "has no ") if verb.several else (3, "is a directory")
            for name, code, words in ((self.folder / "none", 3, "no such file"), (self.folder, *folder)):
                self.check_error(run_bytes(*verb.arguments(name, output=out if verb.must_write else None)), code, f"{name}: {words}")
            self.assertEqual(self.files(), [])
        self.for_each(READING, check)

    def test_folders(self):
        """A folder stands for its files, at any depth, in the order of their names. Others and hidden ones are left out. compress
        writes a file for each: test_archive.py."""
        def check(verb):
            good, ends = next((verb.good(kind), end) for kind, end in (("demo", ".demo"), ("capture", ".PCAP"), ("map", ".map"))
                              if kind in verb.reads and (kind != "demo" or not verb.name.startswith("map")))
            files = [self.folder / "files" / name for name in (f"a{ends}", f"b/c{ends}.gz", f"d{ends}")]
            others = [self.folder / "files" / name for name in (f".hidden{ends}", "text", ends, f".b/e{ends}")]
            for file in files + others:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(good.read_bytes())
            more = ["--force"] if verb.writes and "--force" in verb.options else []
            both = [run_bytes(*verb.arguments(*names, output="out" if verb.must_write else None), *more, cwd=self.folder)
                    for names in ([self.folder / "files"], files)]
            self.assertEqual(both[0], both[1])
            self.assertEqual(both[0][0], 0, both[0])
        self.for_each([v for v in READING if v.several and v.name not in ("export", "merge", "compress")], check)

    def test_kinds_of_files(self):
        def check(verb):
            for kind, file in GOOD.items():
                out = self.folder / "out"
                arguments = verb.arguments(file, output=out if verb.must_write else None)
                if kind not in verb.reads:
                    self.check_error(run_bytes(*arguments), 2, f"{file}: {IS[kind]}, not ", f"`{READER[kind]}` reads it")
                    self.assertEqual(self.files(), [])
                elif verb.name not in NETWORK and (verb.name, kind) != ("map convert", "xvector"):
                    code, _, err = run_bytes(*arguments)
                    self.assertEqual(code, 0, (kind, err))
                    out.unlink(missing_ok=True)
        self.for_each(READING, check)

    def test_files_of_no_kind(self):
        """An empty file is damaged; any other is of another kind, which is wrong usage."""
        def check(verb):
            for data in (b"", b"\0" * 1000, b"nothing of the kind"):
                file = self.folder / "x"
                file.write_bytes(data)
                for name, stdin in ((file, b""), ("-", data)):
                    code, out, err = run_bytes(*verb.arguments(name, output="out" if verb.must_write else None), stdin=stdin,
                                         cwd=self.folder)
                    self.assertEqual(code, 2 if data else 1, (out, err))
                    self.assertRegex(out.decode() + err, r"(x|standard input): .*not a ")
                    self.assertEqual(self.files(), ["x"])
        self.for_each(READING, check)

    def test_damage(self):
        def check(verb):
            for kind in verb.reads:
                whole = verb.good(kind).read_bytes()
                # Maps are damaged in the middle: a short one has no end. Some verbs want only the map of a demo.
                at = 500 if verb.name.startswith("map") and kind == "demo" else 2 * len(whole) // 3 + 1
                file = self.folder / "cut"
                file.write_bytes(whole[:at])
                if verb.name == "serve":
                    continue # shows what there is
                code, out, err = run_bytes(*verb.arguments(file, output="out" if verb.must_write else None), cwd=self.folder)
                if verb.name in ("compress", "picture") or (verb.name == "map extract" and kind != "demo"):
                    self.assertEqual(code, 0) # the bytes are unchanged; a moment before the damage is shown
                elif (verb.name, kind) == ("map convert", "xvector"):
                    self.assertEqual(code, 2)
                elif (verb.name, kind) != ("map render", "xvector"):
                    self.assertEqual(code, 1, (kind, out[-300:], err))
                for line in err.splitlines():
                    self.assertTrue(line.startswith("teewire: "), line)
                (self.folder / "out").unlink(missing_ok=True)
        self.for_each(READING, check)

    def test_several_files(self):
        def check(verb):
            first, second = self.folder / "first", self.folder / "second"
            for file in (first, second):
                file.write_bytes(verb.good().read_bytes())
            none = self.folder / "none"
            for form in verb.formats:
                if form in ("demo", "srt"): # of one file
                    continue
                more = ["--type", "character"] if form == "csv" and verb.name == "dump" else []
                alone = run_bytes(*verb.arguments(first), "--format", form, *more)
                self.assertEqual(alone[0], 0)
                code, out, err = run_bytes(*verb.arguments(first, none, second), "--format", form, *more)
                self.assertEqual((code, err), (3, f"teewire: {none}: no such file\n"))
                lines = out.decode().splitlines()
                if form == "ndjson":
                    found = [json.loads(line)["file"] for line in lines]
                    self.assertEqual(found, sorted(found))
                    # A map without problems has none to print.
                    self.assertEqual(set(found), {str(first), str(second)} if alone[1] else set())
                else:
                    for file in (first, second):
                        self.assertIn(str(file), out.decode())
                if form == "csv":
                    self.assertTrue(lines[0].startswith("file,"))
                    self.assertEqual({len(line.split(",")) for line in lines}, {len(lines[0].split(","))})
        self.for_each([v for v in READING if v.several], check)

    def test_odd_names(self):
        names = [b"--help", b"-o", b" a  b ", b"\xc3\xbc", b"\xff\xfe", b"a\x1b[2Jb", b"line\nbreak", b"a\tb", b"\xc2\x9b31m",
                 b"it's \"quoted\"", b"x" * 250]
        def check(verb):
            for name in names:
                file = os.path.join(os.fsencode(self.folder), name)
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(file)
                pathlib.Path(os.fsdecode(file)).write_bytes(verb.good().read_bytes())
                output = ["-o", "database" if verb.grows else "-"] if verb.must_write else []
                code, out, err = run_bytes(*verb.words, *NEEDS.get(verb.name, []), *output, "--", *[name] * (1 + verb.two),
                                     cwd=self.folder)
                self.assertEqual(code, 0, (name, err))
                if not verb.must_write:
                    self.assertNotRegex(out + err.encode(errors="surrogateescape"), rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
                if "ndjson" in verb.formats:
                    _, out, _ = run_bytes(*verb.words, "--format", "ndjson", "--", *[name] * (1 + verb.two), cwd=self.folder)
                    for line in out.splitlines():
                        told = json.loads(line.decode()).get("file") # strictly UTF-8
                        if told is not None and name != b"\xff\xfe":
                            self.assertEqual(told, name.decode())
                missing = b"no" + name[:200]
                code, out, err = run_bytes(*verb.words, *NEEDS.get(verb.name, []), *output, "--",
                                     *[missing] * (1 + verb.two), cwd=self.folder)
                self.assertEqual((code, out), (3, b""))
                self.assertNotRegex(err.encode(errors="surrogateescape"), rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
                self.assertEqual(err.count("\n"), 1)
        self.for_each([v for v in READING if v.name not in NETWORK], check)


class Outputs(Conventions):
    """-o of every verb that has it; those of the network have their own tests."""

    def setUp(self):
        super().setUp()
        self.files_read = {v.name: v.good() for v in WRITING if v.reads}

    def arguments(self, verb, output=None):
        return verb.arguments(*([verb.good()] if verb.reads else []), output=output)

    def printed(self, verb):
        code, out, err = run_bytes(*self.arguments(verb, output="-"))
        self.assertEqual(code, 0, err)
        self.assertGreater(len(out), 0)
        return out

    def test_files(self):
        os.umask(0o027)
        def check(verb):
            expected = self.printed(verb)
            if not verb.must_write:
                self.assertEqual(run_bytes(*self.arguments(verb))[1], expected)
            out = self.folder / "out"
            code, printed, _ = run_bytes(*self.arguments(verb, output=out))
            self.assertEqual((code, printed, out.read_bytes()), (0, b"", expected))
            self.assertEqual(stat.S_IMODE(out.stat().st_mode), 0o640)
            self.check_error(run_bytes(*self.arguments(verb, output=out)), 2, f"{out}: exists; --force replaces it")
            out.write_bytes(b"old")
            out.chmod(0o600)
            self.check_error(run_bytes(*self.arguments(verb, output=out)), 2, "exists")
            self.assertEqual(out.read_bytes(), b"old")
            code, printed, _ = run_bytes(*self.arguments(verb, output=out), "--force")
            self.assertEqual((code, printed, out.read_bytes()), (0, b"", expected))
            self.assertEqual(stat.S_IMODE(out.stat().st_mode), 0o600)
            self.assertEqual(self.files(), ["out"])
            out.unlink()
        self.for_each(WRITING, check)

    def test_names(self):
        def check(verb):
            expected = self.printed(verb)
            for name in ("-x", "--force", "x" * 255, "\x1b[2J", " ", "ü\udcff", "sub/../y"):
                (self.folder / "sub").mkdir(exist_ok=True)
                out = self.folder / name
                self.assertEqual(run_bytes(*self.arguments(verb), f"--output={name}", cwd=self.folder)[:2], (0, b""), name)
                self.assertEqual(out.read_bytes(), expected)
                out.unlink()
            self.check_error(run_bytes(*self.arguments(verb, output="x" * 256), cwd=self.folder), 3, "cannot be written")
            self.assertEqual(run_bytes(*self.arguments(verb), "--output=", cwd=self.folder)[0], 2)
        self.for_each(WRITING, check)

    def test_links(self):
        def check(verb):
            expected = self.printed(verb)
            link, target = self.folder / "link", self.folder / "target"
            link.symlink_to("target")
            for more in ([], ["--force"]):
                self.check_error(run_bytes(*self.arguments(verb, output=link), *more), 2, "dangling symlink")
                self.assertEqual(self.files(), ["link"])
            target.write_bytes(b"old")
            self.check_error(run_bytes(*self.arguments(verb, output=link)), 2, "exists")
            self.assertEqual(run_bytes(*self.arguments(verb, output=link), "--force")[0], 0)
            self.assertTrue(link.is_symlink())
            self.assertEqual(target.read_bytes(), expected)
            self.assertEqual(self.files(), ["link", "target"])
            link.unlink()
            target.unlink()
        self.for_each(WRITING, check)

    def test_output_that_is_input(self):
        def check(verb):
            file = self.folder / "file"
            whole = verb.good().read_bytes()
            file.write_bytes(whole)
            os.link(file, self.folder / "hard")
            (self.folder / "soft").symlink_to("file")
            for name in ("file", "hard", "soft", "./file"):
                for more in ([], ["--force"]):
                    done = run_bytes(*verb.arguments("file", output=name), *more, cwd=self.folder)
                    self.check_error(done, 2, "is an input and cannot also be the output")
            with file.open("rb") as stdin:
                done = subprocess.run([TEEWIRE, *verb.arguments("-", output="file"), "--force"], stdin=stdin,
                                      capture_output=True, cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            with file.open("ab") as stdout:
                done = subprocess.run([TEEWIRE, *verb.arguments("file", output="-")], stdout=stdout, stderr=subprocess.PIPE,
                                      cwd=self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(file.read_bytes(), whole)
            self.assertEqual(self.files(), ["file", "hard", "soft"])
            for name in self.files():
                (self.folder / name).unlink()
        self.for_each([v for v in WRITING if v.reads], check)

    def test_places_that_cannot_be_written(self):
        def check(verb):
            self.check_error(run_bytes(*self.arguments(verb, output=self.folder)), 3, f"{self.folder}: cannot be written")
            self.check_error(run_bytes(*self.arguments(verb, output=self.folder / "no/out")), 3, "no/out: cannot be written")
            code, out, err = run_bytes(*self.arguments(verb, output="/dev/full"))
            self.assertEqual((code, out), (3, b""))
            self.assertIn("teewire: /dev/full: cannot be written", err)
            self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))
            with open("/dev/full", "wb") as full:
                done = subprocess.run([TEEWIRE, *map(str, self.arguments(verb, output="-"))], stdout=full,
                                      stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 3)
            self.assertIn(b"teewire: standard output: cannot be written", done.stderr)
            self.assertEqual(self.files(), [])
        self.for_each(WRITING, check)

    def test_fifos(self):
        def check(verb):
            expected = self.printed(verb)
            fifo = self.folder / "fifo"
            os.mkfifo(fifo)
            process = subprocess.Popen([TEEWIRE, *map(str, self.arguments(verb, output=fifo))], stderr=subprocess.PIPE)
            self.assertEqual(fifo.read_bytes(), expected)
            process.communicate(timeout=STUCK)
            self.assertEqual(process.returncode, 0)
            self.assertTrue(fifo.is_fifo())
            fifo.unlink()
        self.for_each(WRITING, check)

    def test_closed_pipe(self):
        def check(verb):
            read, write = os.pipe()
            os.close(read)
            arguments = self.arguments(verb, output="-" if verb.writes else None)
            done = subprocess.run([TEEWIRE, *map(str, arguments)], stdout=write, stderr=subprocess.PIPE, timeout=STUCK)
            os.close(write)
            self.assertEqual((done.returncode, b"standard output" in done.stderr), (-signal.SIGPIPE, False), done)
        self.for_each([*WRITING, *(v for v in OFFLINE if v.name == "play")], check)

    def test_closed_streams(self):
        """A file that is opened does not become standard output."""
        def check(verb):
            file = self.folder / "file"
            file.write_bytes(verb.good().read_bytes())
            words = " ".join(shlex.quote(str(a)) for a in [TEEWIRE, *verb.arguments(file, output="-")])
            done = subprocess.run(["sh", "-c", f"exec {words} >&- 2>&-"], timeout=STUCK)
            self.assertEqual(done.returncode, 3)
            words = " ".join(shlex.quote(str(a)) for a in [TEEWIRE, *verb.arguments(file, output=self.folder / "out")])
            done = subprocess.run(["sh", "-c", f"exec {words} <&- >&- 2>&-"], timeout=STUCK)
            self.assertEqual(done.returncode, 0)
            self.assertEqual((self.folder / "out").read_bytes(), run_bytes(*verb.arguments(file, output="-"))[1])
            self.assertEqual(file.read_bytes(), verb.good().read_bytes())
            (self.folder / "out").unlink()
        self.for_each([v for v in WRITING if v.reads], check)

    def test_quiet(self):
        """With --quiet, only errors are printed on standard error."""
        def run_verb(verb, file, *more):
            out = self.folder / "out"
            done = run_bytes(*verb.arguments(*([file] if file else []), output=out if verb.must_write else None), *more)
            out.unlink(missing_ok=True)
            return done
        spoke = 0
        def check(verb):
            nonlocal spoke
            file = verb.good() if verb.reads else None
            spoken = run_verb(verb, file)
            spoke += spoken[2] != ""
            for quiet in "-q", "--quiet":
                self.assertEqual(run_verb(verb, file, quiet), (0, spoken[1], ""))
            if verb.reads:
                self.check_error(run_verb(verb, self.folder / "none", "-q"), 3, "none: no such file")
        self.for_each(WRITING, check)
        self.assertGreater(spoke, 4)
        for verb in VERBS:
            self.assertLessEqual({"--quiet", "--verbose"}, set(verb.options), verb)
        self.check_error(run_bytes("info", "-q", "-v", GOOD["demo"]), 2, "excludes --")

    def test_progress_without_a_terminal(self):
        """--verbose prints it as lines. A slow reader makes the work long enough."""
        for more, expected in ((["--verbose"], rb"( *\d+%  \d:\d\d left  .*ddnet_dm1\.demo\n)+"), ([], b""), (["--quiet"], b"")):
            with subprocess.Popen([TEEWIRE, "dump", FIXTURES / "demos/ddnet_dm1.demo", *more], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as process:
                process.stdout.read(1)
                time.sleep(2.2)
                _, err = process.communicate(timeout=STUCK)
            self.assertRegex(err, rb"\A" + expected + rb"\Z")

    def test_lists_of_names(self):
        """Separated by commas, or given one by one. A backslash keeps a comma in a name."""
        demo = FIXTURES / "demos/ddnet_dm1.demo"
        together = run_bytes("dump", "--type", "character,player_info", demo)
        self.assertEqual(together[::2], (0, ""))
        self.assertEqual(run_bytes("dump", "--type", "character", "--type", "player_info", demo), together)
        for given, meant in (r"a\,b", "a,b"), ("a\\", "a\\"), ("character,,b", ""):
            self.check_error(run_bytes("dump", "--type", given, demo), 2, f'there is no item type "{meant}"')

    def test_nobody_listens(self):
        """Standard error may be full or closed: the work is done all the same."""
        def check(verb):
            output = self.folder / "out" if verb.grows else "-" if verb.must_write else None
            for name, code in ((verb.good() if verb.reads else None, 0), (self.folder / "none", 3)):
                if name is None or (not verb.reads and code):
                    continue
                arguments = verb.arguments(name, output=output)
                with open("/dev/full", "wb") as full:
                    done = subprocess.run([TEEWIRE, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=full, timeout=STUCK)
                self.assertEqual(done.returncode, code)
        self.for_each(OFFLINE, check)

    def test_terminals(self):
        """Binary output is not written to a terminal."""
        for arguments in ([*v.arguments(v.good() if v.reads else "localhost", output="-")] for v in VERBS
                          if v.must_write and not v.grows):
            master, slave = pty.openpty()
            done = subprocess.run([TEEWIRE, *map(str, arguments)], stdout=slave, stderr=subprocess.PIPE, timeout=STUCK)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(b"terminal", done.stderr)
            self.assertFalse(select.select([master], [], [], 0)[0])
            os.close(slave)
            os.close(master)


class Formats(Conventions):
    def test_ndjson(self):
        def check(verb):
            for kind in verb.reads or [None]:
                code, out, err = run_bytes(*verb.arguments(*([verb.good(kind)] if kind else [])), "--format", "ndjson")
                self.assertEqual((code, err), (0, ""))
                for line in out.decode().splitlines():
                    self.assertIsInstance(json.loads(line), dict)
        self.for_each([v for v in OFFLINE if "ndjson" in v.formats], check)

    def test_times(self):
        demo = FIXTURES / "demos/ddnet_dm1.demo" # ticks 752 to 2252

        def ticks(*arguments):
            code, out, err = run_bytes("dump", "--format", "checksum", *arguments, demo)
            self.assertEqual((code, err), (0, ""))
            return [int(line.split()[0]) for line in out.decode().splitlines()]
        whole = ticks()
        for first, last, expected in (("10s", "20s", (1252, 1752)), ("0:10", "0:20.0", (1252, 1752)),
                                      ("1252", "-10s", (1252, 1752)), ("-0:20", "-0:10", (1252, 1752)),
                                      ("-1:00", "0:00:01", (752, 802)), ("-0s", "99:59:59", (2252, 10**9))):
            self.assertEqual(ticks("--from", first, "--to", last), [t for t in whole if expected[0] <= t <= expected[1]])
        _, late, _ = run_bytes("play", "--speed", "1000", "--from", "-0:05", demo)
        self.assertEqual(late.split()[0], b"0:25.0")
        def check(verb):
            for option in re.findall(r"^  (--[a-z-]+) TIME", verb.help, re.M):
                for wrong in ("soon", "1:60", "5m", "", "1:2:3:4", "1e3"):
                    operand = verb.good() if verb.reads else "localhost"
                    self.check_error(run_bytes(*verb.arguments(operand), f"{option}={wrong}"), 2, option)
        self.for_each(VERBS, check)

    def test_types(self):
        _, out, _ = run_bytes("types", "--format", "ndjson")
        types = [json.loads(line) for line in out.splitlines()]
        self.assertEqual({t["protocol"] for t in types}, {"0.6", "ddnet", "0.7"})
        self.assertEqual(len({(t["protocol"], t["kind"], t["name"], t["uuid"]) for t in types}), len(types))
        for t in types:
            self.assertEqual((t["uuid"] is None), (t["type" if t["kind"] == "item" else "id"] is not None))
        by_name = {(t["protocol"], t["kind"], t["name"]): t for t in types}
        character = by_name["ddnet", "item", "character"]
        self.assertEqual((character["type"], character["ints"]), (9, 22))
        self.assertEqual(sum(f["ints"] * f["count"] for f in character["fields"]), 22)
        # dump prints the fields under the same names.
        _, dumped, _ = run_bytes("dump", "--type", "character", FIXTURES / "demos/ddnet_dm1.demo")
        shown = next(iter(json.loads(dumped.splitlines()[0])["items"]["character"].values()))
        self.assertEqual(list(shown), [f["name"] for f in character["fields"]])
        self.assertEqual([f["name"] for f in by_name["0.7", "message", "chat"]["fields"]],
                         ["team", "client_id", "target", "text"])
        for protocol in ("0.6", "ddnet", "0.7"):
            _, one, _ = run_bytes("types", "--protocol", protocol, "--format", "ndjson")
            self.assertEqual([json.loads(line) for line in one.splitlines()], [t for t in types if t["protocol"] == protocol])
            _, text, _ = run_bytes("types", "--protocol", protocol)
            heads = re.findall(r"^\S+ (item|message) (\S+) ", text.decode(), re.M)
            self.assertEqual(heads, [(t["kind"], t["name"]) for t in types if t["protocol"] == protocol])
            fields = [(m[1], re.findall(r"(\d+) of them", m[0])) for m in re.finditer(r"^    (\S+) .*", text.decode(), re.M)]
            self.assertEqual(fields, [(f["name"], [str(f["count"])] if f["count"] > 1 else [])
                                      for t in types if t["protocol"] == protocol for f in t["fields"]])

    def test_capture_as_demo(self):
        capture, demo = GOOD["capture"], self.folder / "x.demo"
        code, out, err = run_bytes("capture", capture, "-o", demo) # the name says so
        self.assertEqual((code, out), (0, b""))
        self.assertRegex(err, r"^teewire: .*x\.demo: \d+ snapshots?, ")
        code, piped, _ = run_bytes("capture", capture, "--format", "demo", "-o", "-")
        self.assertEqual(code, 0)
        whole = demo.read_bytes()
        self.assertEqual(piped[176:], whole[176:])
        self.assertEqual(run_bytes("dump", "-", stdin=piped)[:2], run_bytes("dump", demo)[:2])
        other = self.folder / "y.demo"
        self.assertEqual(run_bytes("capture", capture, "--format", "text", "-o", other)[0], 0)
        self.assertEqual(other.read_bytes(), run_bytes("capture", capture)[1])
        for arguments in ([capture, capture], [capture, "--explain"], [capture, "--map", demo], [capture, "--connection", "99"]):
            self.check_error(run_bytes("capture", *arguments, "-o", self.folder / "z.demo"), 2)
        self.check_error(run_bytes("capture", "--map", GOOD["map"], capture), 2, "--map")
        self.assertEqual(self.files(), ["x.demo", "y.demo"])


# ---- record --------------------------------------------------------------------------------------------------------


class Recordings(Conventions):
    """With `teewire serve` as the server, and one that means harm."""

    @contextlib.contextmanager
    def server(self):
        process = subprocess.Popen([TEEWIRE, "serve", GOOD["demo"], "--loop", "--bind", "127.0.0.1", "--port", "0"],
                                   stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            line = process.stderr.readline()
            yield re.search(r"127\.0\.0\.1:\d+", line)[0]
        finally:
            process.stdin.write("quit\n")
            process.stdin.close()
            process.stderr.read()
            process.wait()
            process.stderr.close()

    def check_demos(self, *names):
        self.assertEqual(self.files(), sorted(names))
        code, out, err = run_bytes("verify", *names, cwd=self.folder)
        self.assertEqual((code, err), (0, ""), out)

    def test_outputs(self):
        with self.server() as address:
            record = ["record", address, "--duration", "0.5", "--protocol", "0.6"]
            code, out, err = run_bytes(*record, "-o", "a.demo", "--format", "ndjson", cwd=self.folder)
            self.assertEqual((code, json.loads(out)["file"]), (0, "a.demo"), err)
            whole = (self.folder / "a.demo").read_bytes()
            self.assertGreater(int.from_bytes(whole[172:176], "big") + int.from_bytes(whole[140:144], "big"), 0)
            self.check_error(run_bytes(*record, "-o", "a.demo", cwd=self.folder), 2, "a.demo: exists; --force replaces it")
            self.assertEqual((self.folder / "a.demo").read_bytes(), whole)
            self.assertEqual(run_bytes(*record, "-o", "a.demo", "--force", cwd=self.folder)[0], 0)
            self.assertNotEqual((self.folder / "a.demo").read_bytes(), whole)
            # As it comes, and what is said about it elsewhere.
            code, out, err = run_bytes(*record, "-o", "-", "--format", "ndjson")
            self.assertEqual(code, 0, err)
            told = json.loads(err.splitlines()[-1])
            self.assertEqual(len(out), told["bytes"])
            code, verified, _ = run_bytes("verify", "-", stdin=out)
            self.assertIn(f": ok: {told['snapshots']} snapshots, ", verified.decode())
            self.assertEqual(run_bytes(*record, "-o", "name without an end", cwd=self.folder)[0], 0)
            self.check_demos("a.demo", "name without an end")
            self.check_error(run_bytes("record", "localhost:1", "localhost:2", "-o", "-"), 2, "only one server")
            self.check_error(run_bytes("record", "localhost:1", "localhost:1", "-o", "x", cwd=self.folder), 2, "given twice")

    def test_full_device(self):
        with self.server() as address:
            code, out, err = run_bytes("record", address, "--protocol", "0.6", "-o", "/dev/full")
            self.assertEqual((code, out), (3, b""))
            self.assertIn("teewire: /dev/full: cannot be written: No space left on device\n", err)

    def test_two_recorders_with_one_name(self):
        """Both demos are kept, and neither has anything of the other."""
        with self.server() as address:
            both = [subprocess.Popen([TEEWIRE, "record", address, "--protocol", "0.6", "-o", "x.demo", "--duration", "1",
                                      "--format", "ndjson"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                    for _ in range(2)]
            told = [json.loads(p.communicate(timeout=STUCK)[0]) for p in both]
            self.assertEqual([p.returncode for p in both], [0, 0])
        self.check_demos("x.demo", "x_2.demo")
        self.assertEqual(sorted(t["file"] for t in told), ["x.demo", "x_2.demo"])
        for t in told:
            self.assertEqual((self.folder / t["file"]).stat().st_size, t["bytes"])

    def test_map_changes(self):
        """Further demos take free names, and what is there stays."""
        (self.folder / "x_2.demo").write_bytes(b"mine")
        (self.folder / "x_4.demo").symlink_to("nowhere")
        with MapChanger(2) as server:
            code, out, err = run_bytes("record", server.address, "--protocol", "0.6", "-o", "x.demo", "--max-demos", "3",
                                 "--duration", "2", cwd=self.folder)
        self.assertEqual(code, 0, err)
        self.assertEqual([line.split(b":")[0] for line in out.splitlines()], [b"x.demo", b"x_3.demo", b"x_5.demo"])
        self.assertEqual((self.folder / "x_2.demo").read_bytes(), b"mine")
        self.assertFalse((self.folder / "nowhere").exists())
        self.assertEqual(self.files(), ["x.demo", "x_2.demo", "x_3.demo", "x_4.demo", "x_5.demo"])

    def test_endless_map_changes(self):
        with MapChanger(10**6) as server:
            code, out, err = run_bytes("record", server.address, "--protocol", "0.6", "-o", "x.demo", cwd=self.folder)
            self.assertEqual(code, 3)
            self.assertIn(f"teewire: {server.address}: its map changes too often: 10 demos in a minute\n", err)
            self.assertEqual(len(self.files()), 10)
            self.assertEqual(out.count(b"\n"), 10)
        with MapChanger(10**6) as server:
            code, out, err = run_bytes("record", server.address, "--protocol", "0.6", "-o", "y.demo", "--max-demos", "3",
                                 cwd=self.folder)
            self.assertEqual((code, out.count(b"\n")), (0, 3), err)
            self.assertEqual(len([f for f in self.files() if f.startswith("y")]), 3)
            self.assertIn("--max-demos", err)
        with MapChanger(10**6) as server:
            code, out, err = run_bytes("record", server.address, "--protocol", "0.6", "-o", "-")
            self.assertEqual((code, out[:6]), (0, b"TWDEMO"), err)
            self.assertIn("one demo", err)
            self.assertEqual(run_bytes("verify", "-", stdin=out)[0], 0)

    def test_max_bytes(self):
        with self.server() as address:
            code, out, err = run_bytes("record", address, "--protocol", "0.6", "-o", "x.demo", "--max-bytes", "20k",
                                 "--format", "ndjson", cwd=self.folder)
            self.assertEqual(code, 0, err)
            self.assertTrue(20 * 1024 <= json.loads(out)["bytes"] < 21 * 1024)
            self.assertIn("--max-bytes", err)
            self.check_demos("x.demo")

    def test_report_that_cannot_be_printed(self):
        """The demo is kept."""
        with self.server() as address, open("/dev/full", "wb") as full:
            done = subprocess.run([TEEWIRE, "record", address, "--protocol", "0.6", "-o", "x.demo", "--duration", "0.3"],
                                  stdout=full, stderr=subprocess.PIPE, cwd=self.folder)
            self.assertEqual(done.returncode, 3)
            self.assertIn(b"teewire: standard output: cannot be written", done.stderr)
        self.check_demos("x.demo")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
