"""`teewire relay` as a process, and a viewer that joins its fragments."""
import http.client
import json
import re
import subprocess
import time

from limits import STUCK


class Relay:
    """Bound to the loopback. Give it to addCleanup."""

    def __init__(self, teewire, source, *options, folder=None, http=True):
        where = ["--http", "0", "--bind", "127.0.0.1"] if http else []
        self.process = subprocess.Popen([teewire, "relay", str(source), *where, *map(str, options)], cwd=folder, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.port = None
        self.said = ""
        self.udp_port = None
        if "--udp" in options:
            self.udp_port = self.wait_for(r"serving game clients on 127\.0\.0\.1:(\d+), ")
        if http:
            self.port = self.wait_for(r"broadcasting on http://127\.0\.0\.1:(\d+)/$")
        self.address = f"http://127.0.0.1:{self.port}"

    def wait_for(self, pattern):
        """The number in a line that it says at its beginning."""
        line = self.process.stderr.readline()
        self.said += line
        found = re.match(pattern, line)
        return int(found[1]) if found else None

    def get(self, path, method="GET", body=None, headers={}, timeout=STUCK):
        """Status, headers and body."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            link.request(method, path, body, headers)
            answer = link.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            link.close()

    def sync(self):
        status, _, body = self.get("/sync")
        return json.loads(body) if status == 200 else None

    def end(self, by="terminate", timeout=STUCK):
        """Exit code and what it said."""
        if self.process.poll() is None:
            getattr(self.process, by)()
        self.process.wait(timeout)
        self.said += self.process.stderr.read()  # communicate() would not know what was read with the first line
        return self.process.returncode, self.said


class Viewer:
    """Keeps what a broadcast offers: for each recording its start, and its fragments by number."""

    def __init__(self, relay):
        self.relay = relay
        self.starts = {}
        self.fragments = {}
        self.order = []
        self.about = {}

    def look(self):
        """Fetches what is new. The index."""
        index = self.relay.sync()
        for one in index["recordings"] if index else []:
            own = self.fragments.setdefault(one["id"], {})
            self.about[one["id"]] = one
            if one["id"] not in self.starts:
                status, _, start = self.relay.get("/" + one["start"])
                if status != 200:
                    continue # gone by now
                self.starts[one["id"]] = start
                self.order.append(one["id"])
            for n in range(one["first"], one["last"] + 1):
                if n not in own:
                    status, _, body = self.relay.get(f"/{one['id']}/{n}.frag")
                    if status == 200:
                        own[n] = body
        return index

    def look_until(self, done, limit=60):
        until = time.monotonic() + limit
        while time.monotonic() < until:
            index = self.look()
            if index and done(index):
                return index
            time.sleep(0.05)
        raise TimeoutError(f"not within {limit} s")

    def joined(self, which=0, numbers=None):
        """A demo of one recording, by the order of coming."""
        name = self.order[which]
        parts = self.fragments[name]
        return self.starts[name] + b"".join(parts[n] for n in (numbers or sorted(parts)))
