#!/usr/bin/env python3
"""Recordings exported by many workers, of which one is killed in the middle: Slurm on two nodes, which are both this machine,
and GNU parallel. In the end there is what one process makes.
Usage: test_cluster.py TEEWIRE FIXTURES. With TEEWIRE_CORPUS, real recordings are exported. Exit code 77, where there is neither
Slurm nor GNU parallel, is a test that was skipped."""
import contextlib
import ctypes
import getpass
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from in_folder import InFolder
from limits import STUCK
from program import TEEWIRE, output_of, run
from real_demos import SHARE

WRAPPER = pathlib.Path(TEEWIRE).read_bytes()  # a script, where it is of another processor
FIXTURES = pathlib.Path(sys.argv[2]).resolve()
CORPUS = pathlib.Path(os.environ.get("TEEWIRE_CORPUS") or FIXTURES / "none")
SCRIPT = FIXTURES.parent / "replay/cluster/export.slurm"
SLURM = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo")
PARTS = 4


def found(*programs):
    return all(shutil.which(p, path=f"{os.environ['PATH']}:/usr/sbin") for p in programs)


def wait_for(what, condition):
    end = time.monotonic() + STUCK
    while not (result := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {STUCK} s")
        time.sleep(0.002)
    return result


def processes(**variables):
    """The processes that have these in their environment."""
    wanted = {f"{name}={value}".encode() for name, value in variables.items()}
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and wanted <= set((entry / "environ").read_bytes().split(b"\0")):
                yield int(entry.name)


def send(what, pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, what)


def runs_teewire(pid):
    with contextlib.suppress(OSError):
        if os.path.samefile(f"/proc/{pid}/exe", TEEWIRE):
            return True
        # One of another processor is run by a program that a script names.
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return WRAPPER.startswith(b"#!") and any(word.endswith(b"/replay/teewire") and word in WRAPPER for word in words)
    return False


class Recordings(InFolder):
    @classmethod
    def setUpClass(cls):
        made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(made.cleanup)
        folder = pathlib.Path(made.name)
        cls.recordings = sorted((CORPUS / "demos").glob("*.demo"))[::SHARE]
        if not cls.recordings:
            # Many different ones, so that there is a middle.
            ticks = [n for first in range(760, 1060, 5) for n in ("--from", str(first), "--to", str(first + 900))]
            output_of("cut", FIXTURES / "demos/ddnet_dm1.demo", *ticks, "-o", folder / "dm1.demo")
            cls.recordings = sorted(folder.glob("*.demo"))
        # Damage stops no other part.
        damaged = folder / "damaged.demo"
        damaged.write_bytes((FIXTURES / "demos/ddnet_yard.demo").read_bytes()[:-100])
        cls.recordings.append(damaged)
        start = time.monotonic()
        code, _, err = run("export", *cls.recordings, "-o", folder / "whole.sqlite")
        if code != 1 or "damaged.demo: tick " not in err:
            raise AssertionError(code, err)
        cls.note(f"one process alone: {time.monotonic() - start:.2f} s")
        cls.whole = cls.rows(folder / "whole.sqlite")

    def setUp(self):
        super().setUp()
        (self.folder / "list").write_text("".join(f"{f}\n" for f in self.recordings))
        (self.folder / "bin").mkdir()
        (self.folder / "bin/teewire").symlink_to(TEEWIRE)
        self.environment = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}:/usr/sbin"}

    @classmethod
    def note(cls, text):
        size = sum(f.stat().st_size for f in cls.recordings)
        print(f"{len(cls.recordings)} files, {size / 1e6:.1f} MB, {text}", file=sys.stderr)

    def part(self, number, name="games"):
        return self.folder / f"{name}-{number}-of-{PARTS}.sqlite"

    def count(self, path):
        if not path.exists():
            return 0
        with contextlib.closing(sqlite3.connect(path, timeout=0)) as db:
            with contextlib.suppress(sqlite3.OperationalError):  # it is locked, or has no tables yet
                return db.execute("SELECT count(*) FROM recordings").fetchone()[0]
        return 0

    @staticmethod
    def rows(path):
        """The rows of all tables, with the recording's hash in place of its number."""
        rows = {}
        with contextlib.closing(sqlite3.connect(path)) as db:
            names = dict(db.execute("SELECT recording, sha256 || connection || part FROM recordings"))
            for table, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
                rows[table] = sorted(hash((names[recording], *row)) for recording, *row in db.execute(f'SELECT * FROM "{table}"'))
        return rows

    def merged(self, name="games"):
        parts = [self.part(n, name) for n in range(1, PARTS + 1) if self.part(n, name).exists()]
        self.assertGreater(len(parts), 1)
        to = self.folder / f"{name}.sqlite"
        to.unlink(missing_ok=True)
        output_of("export", *parts, "-o", to)
        return self.rows(to)

    def kill_in_the_middle(self, of, find):
        """The worker that makes that part goes on a little at a time, however slow the test is."""
        worker = wait_for("a worker", lambda: of.exists() and list(find()))
        def in_the_middle():
            send(signal.SIGSTOP, worker)
            if self.count(of) >= 2:
                return True
            send(signal.SIGCONT, worker)
            time.sleep(0.005)
        wait_for("the middle", in_the_middle)
        send(signal.SIGKILL, [*worker, *find()])

    def assert_interrupted(self, of):
        done = self.count(of)
        last = self.folder / "last.sqlite"
        number = of.name.split("-")[1]
        run("export", *self.recordings, "-o", last, "--shard", f"{number}/{PARTS}")
        everything = self.count(self.part(number, "last"))
        self.assertTrue(2 <= done < everything, f"{done} of {everything}: that was not the middle")


@unittest.skipUnless(found("parallel"), "GNU parallel is not installed")
class Parallel(Recordings):
    def start(self, jobs, name="games"):
        # As in lib/doc/data.md.
        (self.folder / "home/.parallel").mkdir(parents=True, exist_ok=True)
        (self.folder / "home/.parallel/will-cite").touch()
        self.environment["HOME"] = str(self.folder / "home")
        line = ["parallel", "--jobs", str(jobs), "SLURM_ARRAY_TASK_ID={}", str(SCRIPT), f"{name}.sqlite", "list", str(PARTS), ":::",
                *map(str, range(1, PARTS + 1))]
        return subprocess.Popen(line, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def test_killed(self):
        running = self.start(2)
        self.kill_in_the_middle(self.part(2), lambda: filter(runs_teewire, processes(
            SLURM_ARRAY_TASK_ID="2", HOME=self.environment["HOME"])))
        self.assertEqual(running.communicate(timeout=STUCK)[0], "")
        self.assertEqual(running.returncode, 1)  # tasks that failed
        self.assert_interrupted(self.part(2))
        again = self.start(2)
        said = again.communicate(timeout=STUCK)[1]
        self.assertEqual(again.returncode, 0, said)
        self.assertEqual(self.merged(), self.whole)

    def test_figures(self):
        for jobs in (1, 2, 4):
            start = time.monotonic()
            done = self.start(jobs, f"by{jobs}")
            said = done.communicate(timeout=STUCK)[1]
            seconds = time.monotonic() - start
            self.assertEqual(done.returncode, 0, said)
            self.note(f"GNU parallel, {jobs} at once: {seconds:.2f} s")


def free_ports(count):
    with contextlib.ExitStack() as stack:
        bound = [stack.enter_context(socket.socket()) for _ in range(count)]
        for s in bound:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in bound]


@unittest.skipUnless(found(*SLURM), "Slurm and MUNGE are not installed")
class Slurm(Recordings):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(made.cleanup)
        cls.home = pathlib.Path(made.name)
        cls.home.chmod(0o755)
        cls.conf = cls.home / "slurm.conf"
        cls.daemons = {}
        cls.addClassCleanup(cls.stop)
        # The children of daemons are ours to wait for.
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        key = cls.home / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        files = {name: cls.home / f"munge.{name}" for name in ("socket", "pid-file", "log-file", "seed-file")}
        host = socket.gethostname().split(".")[0]
        user = getpass.getuser()
        ports = free_ports(3)
        nodes = "".join(f"NodeName=n{n} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[n]} CPUs=2 RealMemory=4096\n"
                        for n in (1, 2))
        cls.conf.write_text(f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={files["socket"]}
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core,CR_LLN
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0
StateSaveLocation={cls.home}/state
SlurmdSpoolDir={cls.home}/%n
SlurmctldPidFile={cls.home}/slurmctld.pid
SlurmdPidFile={cls.home}/%n.pid
SlurmctldLogFile={cls.home}/slurmctld.log
SlurmdLogFile={cls.home}/%n.log
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
{nodes}PartitionName=all Nodes=n1,n2 Default=YES
""")
        # Control groups are not used, and are missing in some containers. Detecting them would fail there.
        (cls.home / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        (cls.home / "state").mkdir()
        cls.daemon("munged", "--foreground", "--force", f"--key-file={key}", *(f"--{n}={f}" for n, f in files.items()))
        wait_for("munged", files["socket"].exists)
        cls.daemon("slurmctld", "-D", "-c")
        for node in ("n1", "n2"):
            cls.start_node(node)

    @classmethod
    def daemon(cls, name, *arguments, **more):
        environment = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin", "SLURM_CONF": str(cls.conf), **more}
        with open(cls.home / f"{name}.out", "ab") as out:
            cls.daemons[more.get("TEST_NODE", name)] = subprocess.Popen([name, *arguments], env=environment, stdin=subprocess.DEVNULL,
                                                                        stdout=out, stderr=out)

    @classmethod
    def start_node(cls, node):
        (cls.home / node).mkdir(exist_ok=True)
        cls.daemon("slurmd", "-D", "-N", node, TEST_NODE=node)

    @classmethod
    def stop(cls):
        # Killed, because slurmd 24.11 does not end within a minute when asked to, and nothing of it is kept.
        for daemon in cls.daemons.values():
            daemon.kill()
            daemon.wait(STUCK)
        send(signal.SIGKILL, processes(SLURM_CONF=str(cls.conf)))
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    def setUp(self):
        super().setUp()
        self.environment["SLURM_CONF"] = str(self.conf)
        wait_for("two nodes", self.two_nodes)

    def two_nodes(self):
        for name, daemon in self.daemons.items():
            self.assertIsNone(daemon.poll(), f"{name} ended: {''.join(f.read_text()[-2000:] for f in self.home.glob('*.out'))}")
        return self.ask("sinfo", "-hNo", "%N=%T").split() == ["n1=idle", "n2=idle"]

    def ask(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=STUCK).stdout

    def submit(self, array, name="games"):
        done = subprocess.run(["sbatch", "--parsable", f"--array={array}", f"--output={name}-%a.log", SCRIPT, f"{name}.sqlite", "list",
                               str(PARTS)], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=STUCK)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout.strip()

    def states(self, job):
        return dict(line.split() for line in self.ask("squeue", "-hrj", job, "-t", "all", "-o", "%K %T").splitlines())

    def wait(self, job):
        def ended():
            states = self.states(job)
            return states if set(states.values()) <= {"COMPLETED", "FAILED"} and states else None
        return wait_for("the tasks", ended)

    def logs(self):
        return "".join(f.read_text() for f in self.folder.glob("*.log"))

    def test_task_killed(self):
        """The task fails, the others do not, and only it is started again."""
        job = self.submit(f"1-{PARTS}")
        self.kill_in_the_middle(self.part(2), lambda: filter(runs_teewire, processes(
            SLURM_CONF=str(self.conf), SLURM_ARRAY_TASK_ID="2")))
        self.assertEqual(self.wait(job), {str(n): "FAILED" if n == 2 else "COMPLETED" for n in range(1, PARTS + 1)}, self.logs())
        self.assert_interrupted(self.part(2))
        self.assertEqual(self.wait(self.submit("2")), {"2": "COMPLETED"}, self.logs())
        self.assertEqual(self.merged(), self.whole)

    def test_node_lost(self):
        """With all that it was doing."""
        job = self.submit(f"1-{PARTS}%2")
        def on_second():
            return [t.split()[0] for t in self.ask("squeue", "-hrj", job, "-w", "n2", "-o", "%K").splitlines()]
        second = wait_for("a task on the other node", on_second)[0]
        conf = str(self.conf)
        self.kill_in_the_middle(self.part(second), lambda: [*processes(SLURM_CONF=conf, SLURMD_NODENAME="n2"),
                                                            *processes(SLURM_CONF=conf, TEST_NODE="n2")])
        self.daemons.pop("n2").wait(STUCK)
        self.addCleanup(self.ask, "scontrol", "update", "NodeName=n2", "State=RESUME")
        self.addCleanup(self.start_node, "n2")
        self.assert_interrupted(self.part(second))
        # What Slurm would find out by itself, in some minutes; then it waits two more.
        self.ask("scontrol", "update", "NodeName=n2", "State=DOWN", "Reason=lost")
        wait_for("the task in the queue", lambda: self.states(job).get(second) != "RUNNING")
        self.ask("scontrol", "update", f"JobId={job}_{second}", "StartTime=now")
        self.assertEqual(self.wait(job), {str(n): "COMPLETED" for n in range(1, PARTS + 1)}, self.logs())
        self.assertEqual(self.merged(), self.whole)

    def test_figures(self):
        for at_once in (1, 2, 4):
            start = time.monotonic()
            job = self.submit(f"1-{PARTS}%{at_once}", f"by{at_once}")
            self.assertEqual(set(self.wait(job).values()), {"COMPLETED"}, self.logs())
            self.note(f"Slurm, {at_once} at once: {time.monotonic() - start:.2f} s")
        self.assertEqual(self.merged("by4"), self.whole)


if __name__ == "__main__":
    if not found("parallel") and not found(*SLURM):
        print("SKIPPED: there is neither Slurm nor GNU parallel")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
