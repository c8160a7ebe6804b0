#!/usr/bin/env python3
"""Puts faults into the code, one at a time, and prints those that no test notices.

It works on a copy of the sources with a build of its own, both in DIRECTORY, and writes each result to
DIRECTORY/results.jsonl: run again, it goes on where it was. README.md says more."""
import argparse
import ast
import bisect
import collections
import csv
import functools
import hashlib
import itertools
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).parent
PLACES = ("lib/src", "replay/src", "lib/wasm", "lib/python")
# Scripts, which nothing compiles, and the tests that run them.
SCRIPTS = {".js": ("wasm-units",), ".py": ("python",)}
# They read or build the sources and run little of them.
BESIDE_THE_POINT = {"layers", "one-definition", "docs", "manifest", "symbols", "symbols-map", "exports", "freestanding", "installed",
                    "embedded", "amalgamation", "places", "citations", "version", "header-loop", "hashes"}
# Tests that run most of a folder come first; later those that have noticed most there.
LIKELY = {"replay/src/base": ("program", "replay"), "replay/src/cli": ("replay", "program"),
          "replay/src/edit": ("replay", "edit", "merge"), "replay/src/events": ("events", "replay"),
          "replay/src/game": ("replay", "events"), "replay/src/http": ("web", "live"),
          "replay/src/map": ("map-program",), "replay/src/recording": ("replay", "capture", "live"),
          "replay/src/serve": ("live", "replay"), "replay/src/tables": ("export", "arrow"),
          "replay/src/verbs": ("program",), "replay/src/verbs/map": ("map-program",),
          "replay/src/web": ("web", "replay", "relay")}
# They make the sources or what is installed.
NOT_RUN = {"lib/wasm/build.py"}
MEMORY = 6 << 30  # of a test, in bytes
FILE_SIZE = 1 << 30

# ---- tokens ----------------------------------------------------------------------------------------------------------

TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<string>(?:u8|[uUL])?(?:R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*")|'(?:[^'\\\n]|\\.)*'|`[^`]*`
        |(?<=[(,=:&|!?][ ])/(?:[^/\\\n]|\\.)+/|(?<=\()/(?:[^/\\\n]|\\.)+/)
  | (?P<number>\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign>[!=]==|=>|\?\?=|\?\?|\?\.(?!\d)|<=>|<<=|>>=|\.\.\.|->\*|::|->|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|<<|>>|[^\s\w])
""", re.X | re.S | re.M)
Token = collections.namedtuple("Token", "kind text begin end")
Fault = collections.namedtuple("Fault", "file line function kind before after begin end text")
OPEN, CLOSE = "([{", ")]}"
TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "==="}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
NOT_STATEMENTS = {"auto", "const", "constexpr", "constinit", "static", "return", "if", "for", "while", "do", "switch",
                  "case", "default", "using", "struct", "class", "enum", "union", "typedef", "template", "else", "try",
                  "catch", "throw", "namespace", "friend", "extern", "public", "private", "protected", "inline",
                  "static_assert", "assert", "alignas", "thread_local", "explicit", "virtual", "let", "function", "export",
                  "import", "get", "async"}
NOT_FUNCTIONS = {"noexcept", "decltype", "alignas", "__attribute__", "target", "requires", "if", "for", "while",
                 "switch", "catch", "static_cast", "reinterpret_cast"}
DECLARATION = re.compile(r"[\w:]+(<[^;=()]*>)?[&*]*( const\b)?[&*]*\s+[&*]*\w+")


def tokens_of(text):
    found = []
    for m in TOKEN.finditer(text):
        if m.lastgroup not in ("comment", "directive") and not m.group("comment") and not m.group("directive"):
            kind = next(k for k in ("string", "number", "word", "sign") if m.group(k) is not None)
            found.append(Token(kind, m.group(), m.start(), m.end()))
    return found


def partners_of(tokens):
    """Where each bracket's other one is."""
    partner, stack = {}, []
    for i, t in enumerate(tokens):
        if t.kind == "sign" and t.text in OPEN:
            stack.append(i)
        elif t.kind == "sign" and t.text in CLOSE and stack:
            j = stack.pop()
            partner[i], partner[j] = j, i
    return partner


def surroundings_of(tokens):
    """The bracket that each token is in, or ""."""
    around, stack = [], []
    for t in tokens:
        if t.kind == "sign" and t.text in CLOSE and stack:
            stack.pop()
        around.append(stack[-1] if stack else "")
        if t.kind == "sign" and t.text in OPEN:
            stack.append(t.text)
    return around


def functions_of(tokens, partner):
    """The name of what each token is in: a function, or a table; "" outside of them."""
    names = [""] * len(tokens)
    i = begin = 0
    last = ""
    while i < len(tokens):
        text = tokens[i].text
        if text in ("(", "[") and i in partner:
            i = partner[i] + 1
        elif text == ";" or text == "}":
            names[begin:i] = [declared(tokens[begin:i])] * (i - begin)
            begin = i = i + 1
        elif text == "{":
            head = [t.text for t in tokens[begin:i]]
            # The insides of `namespace a {`, `struct a final : b {` are looked at in turn.
            if "namespace" in head:
                head = head[head.index("namespace"):]  # a macro may come before it
            if ("namespace" in head or head[:1] == ["extern"] or {"class", "struct", "union"} & set(head[:3])) \
                    and "(" not in head and "=" not in head:
                begin = i = i + 1
                continue
            name = last if head[:1] == [","] else declared(tokens[begin:i]) or last
            last = name
            stop = partner.get(i, len(tokens) - 1)
            names[begin:stop] = [name] * (stop - begin)
            begin = i = stop + 1
        else:
            i += 1
    return names


def declared(head):
    for k in range(1, len(head)):
        if head[k].text == "(" and head[k - 1].kind == "word" and head[k - 1].text not in NOT_FUNCTIONS \
                and not head[k - 1].text.isupper():  # nor macros
            name = head[k - 1].text
            for scope, colons in zip(head[k - 3::-2], head[k - 2::-2]):
                if colons.text != "::" or scope.kind != "word":
                    break
                name = scope.text + "::" + name
            return name
        if head[k].text == "=":
            break
    words = list(itertools.takewhile(lambda t: t.text not in ("=", "["), head))
    return next((t.text for t in reversed(words) if t.kind == "word"), "")


# ---- faults ----------------------------------------------------------------------------------------------------------

def squeezed(text):
    return " ".join(text.split())


def faults_in_python(file, text):
    lines = [0, *(m.end() for m in re.finditer("\n", text))]
    found, names = [], {}

    def add(kind, node, replacement):
        begin = lines[node.lineno - 1] + len(text[lines[node.lineno - 1]:].encode()[:node.col_offset].decode())
        end = lines[node.end_lineno - 1] + len(text[lines[node.end_lineno - 1]:].encode()[:node.end_col_offset].decode())
        line_end = text.find("\n", end)
        before = squeezed(text[lines[node.lineno - 1]:line_end])
        after = squeezed(text[lines[node.lineno - 1]:begin] + replacement + text[end:line_end])
        found.append(Fault(file, node.lineno, names.get(node, ""), kind, before, after, begin, end, replacement))

    def name_all(node, name):
        for child in ast.iter_child_nodes(node):
            names[child] = name
            name_all(child, child.name if isinstance(child, (ast.FunctionDef, ast.ClassDef)) else name)

    tree = ast.parse(text)
    name_all(tree, "")
    turned = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
              ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"}
    source = functools.partial(ast.get_source_segment, text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            add("comparison", node, f"{source(node.left)} {turned[type(node.ops[0])]} {source(node.comparators[0])}")
        elif isinstance(node, ast.BoolOp):
            for left_out in range(len(node.values)):
                word = " and " if isinstance(node.op, ast.And) else " or "
                add("condition", node, "(" + word.join(source(v) for n, v in enumerate(node.values) if n != left_out) + ")")
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            for other in (node.value + 1, node.value - 1):
                if other >= 0:
                    add("constant", node, str(other))
        elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
            for value in ("False",) if isinstance(node, ast.While) else ("False", "True"):
                add("condition", node.test, value)
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.Raise)) or (
                isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            if names.get(node):
                add("statement", node, "pass")
    return found


def faults_of(file, text):
    """All faults that this script can put into the file."""
    if file.endswith(".py"):
        return faults_in_python(file, text)
    tokens = tokens_of(text)
    partner = partners_of(tokens)
    names = functions_of(tokens, partner)
    around = surroundings_of(tokens)
    starts = [0] + [m.end() for m in re.finditer("\n", text)]
    untouched = set()  # what asserts and attributes say
    for i, t in enumerate(tokens):
        following = tokens[i + 1].text if i + 1 < len(tokens) else ""
        if t.text in ("assert", "static_assert", "__attribute__", "alignas") and following == "(":
            untouched.update(range(i, partner[i + 1] + 1))
        elif t.text == "[" and following == "[" and i in partner:
            untouched.update(range(i, partner[i] + 1))
    found = []

    def add(kind, i, begin, end, replacement):
        first = bisect.bisect_right(starts, begin) - 1
        last = bisect.bisect_right(starts, end - 1) - 1
        line_begin = starts[first]
        line_end = starts[last + 1] - 1 if last + 1 < len(starts) else len(text)
        before = squeezed(text[line_begin:line_end])
        after = squeezed(text[line_begin:begin] + replacement + text[end:line_end])
        found.append(Fault(file, first + 1, names[i], kind, before, after, begin, end, replacement))

    def spaced(t):
        return text[t.begin - 1].isspace() and text[t.end].isspace()

    def operand(i, step, own):
        """The outermost token of what an && or || at i joins on one side."""
        ends = {"&&", "||"} if own == "&&" else {"||"}
        at = i + step
        edge = i
        while 0 <= at < len(tokens):
            t = tokens[at]
            if t.text in (CLOSE if step < 0 else OPEN) and t.kind == "sign":
                if at not in partner:
                    return None
                edge = partner[at]
                at = edge + step
                continue
            if t.kind == "sign" and (t.text in OPEN + CLOSE or t.text in (",", ";", "?", ":") or t.text in ASSIGNMENTS
                                     or (t.text in ends and spaced(t))) or t.text == "return":
                break
            edge = at
            at += step
        return None if edge == i else edge

    for i, t in enumerate(tokens):
        if i in untouched or i == 0 or i + 1 == len(tokens):
            continue
        before, after = tokens[i - 1], tokens[i + 1]
        if t.kind == "sign" and t.text in TURNED and spaced(t) and before.text != "operator":
            add("comparison", i, t.begin, t.end, TURNED[t.text])
        elif t.kind == "sign" and t.text in ("&&", "||") and spaced(t):
            left, right = operand(i, -1, t.text), operand(i, 1, t.text)
            if left is not None:
                add("condition", i, tokens[left].begin, after.begin, "")
            if right is not None:
                add("condition", i, before.end, tokens[right].end, "")
        elif t.kind == "number" and not (before.text == "<" and not spaced(before)):
            m = re.fullmatch(r"(0[xX])?([0-9a-fA-F']+)([uUlLzZ]*)", t.text)
            if m and (m[1] or not re.search("[a-fA-F]", m[2])):
                value = int(m[2].replace("'", ""), 16 if m[1] else 10)
                for other in (value + 1, value - 1):
                    if other >= 0:
                        add("constant", i, t.begin, t.end, (f"0x{other:x}" if m[1] else str(other)) + m[3])
        elif t.text in ("if", "while") and after.text == "(" and names[i]:
            begin, end = i + 2, partner[i + 1]
            for k in range(begin, end):
                if tokens[k].text == ";":
                    begin = k + 1
            inside = text[tokens[begin].begin:tokens[end].begin]
            if not DECLARATION.match(inside) and not inside.startswith("auto") and "constexpr" not in inside:
                for value in ("false", "true") if t.text == "if" else ("false",):
                    add("condition", i, tokens[begin].begin, tokens[end].begin, value)
        begins = before.text in ("{", "}", ";", "else") or (
            before.text == ")" and tokens[partner.get(i - 1, 0) - 1].text in ("if", "for", "while"))
        if begins and names[i] and around[i] == "{" and (t.kind == "word" or t.text in ("++", "--", "*", "(")) \
                and t.text not in NOT_STATEMENTS:
            end = i
            while end < len(tokens) and tokens[end].text not in ("{", "}", ";"):
                end = partner.get(end, end) + 1 if tokens[end].text in "([" else end + 1
            whole = text[t.begin:tokens[end].begin] if end < len(tokens) else ""
            if end < len(tokens) and tokens[end].text == ";" and not DECLARATION.match(whole):
                add("statement", i, t.begin, tokens[end].begin, "")
    return found


def lines_of_code(text):
    bare = TOKEN.sub(lambda m: re.sub(r"[^\n]", "", m.group()) if m.group("comment") else m.group(), text)
    return sum(1 for line in bare.splitlines() if line.strip())


def sources(root):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, check=True,
                            capture_output=True, text=True).stdout.split("\n")
    return [name for name in listed if name and (root / name).is_file()]


def code(root, headers=False):
    """The text of each file that faults are put into. Not of the program's headers, unless these are wanted: they hold
    declarations and are compiled twenty times."""
    return {name: (root / name).read_text() for name in sources(root)
            if name.startswith(PLACES)
            and name.endswith((".cpp", *SCRIPTS) if name.startswith("replay/") and not headers
                              else (".cpp", ".hpp", ".inc", *SCRIPTS))
            and name not in NOT_RUN}


def sample(root, seed, wanted, kept=lambda name: True):
    """For each file of PLACES: how many faults, all of them in the order in which they are tried, and its text."""
    texts = {name: text for name, text in code(root).items() if kept(name)}
    weights = {name: lines_of_code(text) for name, text in texts.items()}
    total = sum(weights.values())
    shares = {name: wanted * weight / total for name, weight in weights.items()}
    quotas = {name: int(share) for name, share in shares.items()}
    for name in sorted(shares, key=lambda n: (quotas[n] - shares[n], n))[:wanted - sum(quotas.values())]:
        quotas[name] += 1
    plan = {}
    for name in sorted(texts):
        if not quotas[name]:
            continue
        kinds = collections.defaultdict(list)
        for fault in faults_of(name, texts[name]):
            kinds[fault.kind].append(fault)
        chance = random.Random(f"{seed} {name}")
        for kind in sorted(kinds):
            chance.shuffle(kinds[kind])
        order = []
        while kinds:
            kind = chance.choice(sorted(kinds))
            order.append(kinds[kind].pop())
            if not kinds[kind]:
                del kinds[kind]
        plan[name] = (quotas[name], order, texts[name])
    return plan


def key(fault):
    return "\t".join((fault.file, fault.function, fault.before, fault.after))


def is_accepted(fault, accepted):
    """Code may move, to other lines and to other files."""
    return (fault.function, fault.before, fault.after) in accepted


def accepted_faults():
    with open(HERE / "accepted.tsv", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(row["function"], row["before"], row["after"]): row["reason"] for row in rows}


# ---- builds and tests ------------------------------------------------------------------------------------------------

class Bench:
    """The copy of the sources, its build, and its tests."""

    def __init__(self, directory, options):
        self.directory = directory
        self.source = directory / "source"
        self.build = directory / "build"
        self.scratch = directory / "scratch"
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.copy()
        if not (self.build / "build.ninja").exists():
            subprocess.run(["meson", "setup", "-Dbench=false", "-Doptimization=1",
                            "-Ddebug=false", "-Db_ndebug=true", *options, self.build, self.source], check=True,
                           stdout=subprocess.DEVNULL)
        self.ninja(check=True)
        self.tests = self.read_tests()
        self.ninja(*{os.path.relpath(t, self.build) for test in self.tests for t in test["targets"]}, check=True)
        self.hashes = {t: digest(t) for test in self.tests for t in test["targets"]}
        self.objects = self.read_objects()

    def copy(self):
        """Brings the copy up to date, touching only what differs."""
        names = sources(ROOT)
        for name in names:
            target = self.source / name
            data = (ROOT / name).read_bytes()
            if not target.exists() or target.read_bytes() != data:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
                shutil.copymode(ROOT / name, target)
        for path in list(self.source.rglob("*")):
            if path.is_file() and str(path.relative_to(self.source)) not in set(names) and "__pycache__" not in str(path):
                path.unlink()

    def ninja(self, *targets, check=False):
        done = subprocess.run(["ninja", "-C", self.build, "-j1", "--quiet", *targets], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if check and done.returncode != 0:
            sys.exit(f"mutate: the code does not build as it is\n{done.stdout}")
        self.said = done.stdout
        return done.returncode == 0

    def read_tests(self):
        listed = json.loads(subprocess.run(["meson", "introspect", "--tests", self.build], check=True,
                                           capture_output=True, text=True).stdout)
        tests = []
        for test in listed:
            if test["name"] in BESIDE_THE_POINT or {"teewire:debian", "teewire:lint"} & set(test["suite"]):
                continue
            if "teewire:corpus" in test["suite"] and not os.environ.get("TEEWIRE_CORPUS"):
                continue
            # Programs are named as they lie in the build, which is where tests run.
            command = [os.path.normpath(self.build / a) if (self.build / a).is_file() else a for a in test["cmd"]]
            targets = [a for a in command if a.startswith(str(self.build) + "/") and os.path.isfile(a)]
            if re.fullmatch(r"(unit|kernel|map|replay|live|corpus|map-corpus|thread)-tests", os.path.basename(command[0])):
                command.append("--abort-after=1")
            tests.append({"name": test["name"], "command": command, "targets": targets, "env": test["env"],
                          "timed": "teewire:interop" in test["suite"]})
        return tests

    def read_objects(self):
        """Which objects are made from each source."""
        said = subprocess.run(["ninja", "-C", self.build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
        objects, current = collections.defaultdict(set), None
        for line in said.splitlines():
            if line and not line.startswith(" "):
                current = line.split(":")[0]
            elif line.strip():
                path = pathlib.Path(os.path.normpath(self.build / line.strip()))
                if path.is_relative_to(self.source) and str(path.relative_to(self.source)).startswith(PLACES):
                    objects[str(path.relative_to(self.source))].add(current)
        return objects

    def run(self, test, cpu, wall):
        """The failure, or None; and the seconds that it took, by the clock and of the processor."""
        def limit():
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)  # nohup and shells have some of them ignored
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 2))
            if "node" not in os.path.basename(test["command"][0]):  # which reserves far more than it uses
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()
        begin, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(self.directory / "output", "w") as output:
            process = subprocess.Popen(test["command"], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                       cwd=self.build, start_new_session=True, preexec_fn=limit,
                                       env={**os.environ, **test["env"], "TMPDIR": str(self.scratch)})
        try:
            code = process.wait(wall)
            wrong = None if code in (0, 77) else f"exit code {code}"
        except subprocess.TimeoutExpired:
            wrong = "time"
        try:
            os.killpg(process.pid, signal.SIGKILL)  # its children, too
        except ProcessLookupError:
            pass
        process.wait()
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        return wrong, time.monotonic() - begin, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime

    def measure(self):
        """Each test without a fault, where it is not the one that was run before: how long it takes, and that it
        passes. One that does not would notice everything."""
        stored = self.directory / "times.json"
        times = json.loads(stored.read_text()) if stored.exists() else {}
        for test in self.tests:
            known = times.get(test["name"])
            programs = self.digest_of(test)
            if known is None or known["programs"] != programs:
                wrong, wall, cpu = self.run(test, 600, 900)
                if wrong:
                    shutil.copy(self.directory / "output", self.directory / f"output-{test['name']}")
                known = times[test["name"]] = {"programs": programs, "wall": wall, "cpu": cpu, "wrong": wrong}
                stored.write_text(json.dumps(times, indent=1))
            if known["wrong"]:
                print(f"left out: {test['name']} fails without any fault: {known['wrong']}", flush=True)
        self.times = {name: (t["wall"], max(t["wall"], t["cpu"])) for name, t in times.items()}
        self.tests = [t for t in self.tests if not times[t["name"]]["wrong"]]

    def digest_of(self, test):
        """The programs and scripts that a test runs."""
        files = [a for a in test["command"] if os.path.isfile(a)]
        return hashlib.sha256("".join(digest(f) for f in files).encode()).hexdigest()

    def put(self, file, text):
        (self.source / file).write_text(text)

    def verdict(self, file, most_seconds, kills):
        """With the fault in place: how it ended, and which test noticed."""
        if file.endswith(tuple(SCRIPTS)):
            return self.verdict_on_script(file)
        objects = sorted(self.objects[file])
        if not self.ninja(*objects):
            # Some code has tests of its own for the compiler.
            if "static assertion failed" in self.said or "static_assert failed" in self.said:
                return "noticed", "a static_assert"
            return "does not build", None
        if all(self.object_hash(o) == self.object_hashes[o] for o in objects):
            return "same program", None

        def cost(test):
            return (self.times[test["name"]][0] + 1) / (1 + 3 * kills[file, test["name"]] +
                                                        kills[os.path.dirname(file), test["name"]])

        affected = False
        for test in sorted(self.tests, key=cost):
            wall, cpu = self.times[test["name"]]
            if wall > most_seconds:
                continue
            if not self.ninja(*(os.path.relpath(t, self.build) for t in test["targets"])):
                return "noticed", "the linker"
            if all(digest(t) == self.hashes[t] for t in test["targets"]):
                continue
            affected = True
            for _ in range(2 if test["timed"] else 1):  # once more, where the clock may be to blame
                wrong, _, _ = self.run(test, int(3 * cpu) + 5, 8 * wall + 30)
                if not wrong:
                    break
            if wrong:
                shutil.copy(self.directory / "output", self.directory / f"output-{test['name']}")
                return "noticed", f"{test['name']}: {wrong}"
        return ("survived" if affected else "same program"), None

    def verdict_on_script(self, file):
        suffix = pathlib.Path(file).suffix
        check = ["node", "--check"] if suffix == ".js" else [sys.executable, "-m", "py_compile"]
        if subprocess.run([*check, self.source / file], capture_output=True).returncode != 0:
            return "does not build", None
        self.ninja(file, check=True)  # a copy
        for test in self.tests:
            if test["name"] in SCRIPTS[suffix]:
                wall, cpu = self.times[test["name"]]
                wrong, _, _ = self.run(test, int(3 * cpu) + 5, 3 * wall + 10)
                if wrong:
                    return "noticed", f"{test['name']}: {wrong}"
        return "survived", None

    def object_hash(self, name):
        return digest(self.build / name)

    def remember_objects(self, files):
        self.object_hashes = {o: self.object_hash(o) for f in files for o in self.objects[f]}


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


# ---- lists -----------------------------------------------------------------------------------------------------------

def named_faults():
    with open(HERE / "named.tsv", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for row in rows:
        row["before"], row["after"] = (row[k].replace("\\n", "\n") for k in ("before", "after"))
    return rows


def place_of(row, texts):
    """The file that has the code of a named fault: the one it was in, or the only one where it has moved to."""
    places = [name for name, text in texts.items() if text.count(row["before"]) == 1]
    return row["file"] if row["file"] in places else places[0] if len(places) == 1 else None


def stale(texts):
    """Lines of both lists whose code is not there any more."""
    known = {(f.function, f.before, f.after) for name, text in texts.items() for f in faults_of(name, text)}
    return [f"accepted.tsv: {before}" for function, before, after in accepted_faults()
            if (function, before, after) not in known] + \
        [f"named.tsv: {row['before']!r}" for row in named_faults() if not place_of(row, code(ROOT, headers=True))]


def check_named(bench, only):
    """Each named fault is put in: the test named beside it fails, and passes without it."""
    bad = 0
    texts = code(ROOT, headers=True)
    programs = {os.path.basename(t): t for test in bench.tests for t in test["targets"]}
    for row in named_faults():
        name = place_of(row, texts)
        if only and not (name or row["file"]).startswith(tuple(only)):
            continue
        if not name:
            bad += 1
            continue
        text = texts[name]
        program = programs[row["program"]]
        runs = []
        for changed in (text.replace(row["before"], row["after"]), text):
            bench.put(name, changed)
            if not bench.ninja(os.path.relpath(program, bench.build)):
                runs.append("does not build")
                continue
            test = {"command": [program, "--abort-after=1", "--test-case=" + row["test"].replace(",", "\\,")], "env": {}}
            runs.append(bench.run(test, 120, 300)[0])
            count = subprocess.run([*test["command"], "--count"], capture_output=True, text=True).stdout
            if " 0\n" in count and "filters: 0" in count:
                runs[-1] = "no such test"
        good = runs[0] not in (None, "does not build", "no such test") and runs[1] is None
        bad += not good
        print(f"{'noticed ' if good else 'SURVIVED'}  {name}: {row['before']!r} -> {row['after']!r}: "
              f"{row['test']}" + ("" if good else f" {runs}"), flush=True)
    return 1 if bad else 0


# ---- the whole -------------------------------------------------------------------------------------------------------

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path, help="where copy, build and results are")
    parser.add_argument("--faults", type=int, default=300, help="how many in all (300)")
    parser.add_argument("--seed", default="1", help="another seed, other faults")
    parser.add_argument("--only", action="append", default=[], metavar="PATH", help="only in these files or folders")
    parser.add_argument("--most-seconds", type=float, default=1e9, metavar="S", help="leave out tests that take longer")
    parser.add_argument("--tests", metavar="NAME,...", help="these tests alone")
    parser.add_argument("--again", action="store_true", help="try those once more that survived")
    parser.add_argument("--list", action="store_true", help="print the faults, put none in")
    parser.add_argument("--report", action="store_true", help="print what is known, put none in")
    parser.add_argument("--named", action="store_true", help="put in those of named.tsv instead")
    parser.add_argument("--option", action="append", default=[], metavar="-Dx=y", help="of the build")
    options = parser.parse_args()
    directory = options.directory.resolve()
    for line in stale(code(ROOT)):
        print(f"no such code any more: {line}")
    plan = sample(ROOT, options.seed, options.faults, lambda n: not options.only or n.startswith(tuple(options.only)))
    if options.list:
        for quota, order, _ in plan.values():
            for f in order[:quota]:
                print(f"{f.file}:{f.line}: {f.function}: {f.kind}\n- {f.before}\n+ {f.after}")
        return 0
    directory.mkdir(parents=True, exist_ok=True)
    stored = directory / "results.jsonl"
    results = {}
    if stored.exists():
        for line in stored.read_text().splitlines():
            result = json.loads(line)
            results[result["key"]] = result
    if not options.report:
        bench = Bench(directory, options.option)
        if options.named:
            return check_named(bench, options.only)
        if options.tests:
            bench.tests = [t for t in bench.tests if t["name"] in options.tests.split(",")]
        bench.measure()
        bench.remember_objects(plan)
    kills = collections.Counter({(folder, test): 5 for folder, tests in LIKELY.items() for test in tests})
    kills.update({(name, pathlib.Path(name).stem): 5 for name in plan})  # a verb mostly has a test of its name
    for result in results.values():
        if result["verdict"] == "noticed" and result["by"]:
            name, by = result["key"].split("\t")[0], result["by"].split(":")[0]
            kills[name, by] += 1
            kills[os.path.dirname(name), by] += 1
    accepted = accepted_faults()
    chosen = []
    for name, (quota, order, text) in plan.items():
        count = 0
        for fault in order:
            if count == quota:
                break
            known = results.get(key(fault))
            if options.report and not known:
                continue
            if not known and is_accepted(fault, accepted):
                known = {"verdict": "survived"}
            elif not known or (options.again and known["verdict"] == "survived"
                                 and not is_accepted(fault, accepted)):
                bench.put(name, text[:fault.begin] + fault.text + text[fault.end:])
                begin = time.monotonic()
                verdict, by = bench.verdict(name, options.most_seconds, kills)
                known = {"key": key(fault), "verdict": verdict, "by": by, "seconds": round(time.monotonic() - begin, 1)}
                results[key(fault)] = known
                with open(stored, "a") as file:
                    file.write(json.dumps(known) + "\n")
                print(f"{known['seconds']:7.1f} s  {verdict:14}  {name}:{fault.line}  {fault.after}"
                      + (f"  [{by}]" if by else ""), flush=True)
                if verdict == "noticed":
                    kills[name, by.split(":")[0]] += 1
                    kills[os.path.dirname(name), by.split(":")[0]] += 1
            if known["verdict"] in ("noticed", "survived"):
                count += 1
                chosen.append((fault, known))
        if not options.report:
            bench.put(name, text)
    return report(chosen, accepted)


def report(chosen, accepted):
    survivors = [f for f, known in chosen if known["verdict"] == "survived"]
    equivalent = [f for f in survivors if is_accepted(f, accepted)]
    noticed = len(chosen) - len(survivors)
    counted = len(chosen) - len(equivalent)
    for f in survivors:
        if not is_accepted(f, accepted):
            print(f"\n{f.file}:{f.line}: {f.function}: survived\n- {f.before}\n+ {f.after}")
    print(f"\n{len(chosen)} faults: {noticed} noticed, {len(equivalent)} accepted, {counted - noticed} survived: "
          f"{100 * noticed / max(1, counted):.1f} %")
    for place in PLACES:
        here = [(f, k) for f, k in chosen if f.file.startswith(place)]
        good = sum(k["verdict"] == "noticed" for _, k in here)
        print(f"  {place}: {len(here)} faults, {good} noticed, "
              f"{sum(k['verdict'] == 'survived' and is_accepted(f, accepted) for f, k in here)} accepted")
    return 1 if counted > noticed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
