#!/usr/bin/env python3
"""`teewire relay` behind nginx and Varnish of Debian with the configurations in replay/web, and a crowd that watches.
Usage: test_relay.py TEEWIRE WATCHERS WEB FIXTURES [VIEWERS [SECONDS]]"""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

from real_servers import free_port, own_network, scratch, skip, until

TEEWIRE, WATCHERS, WEB, FIXTURES = map(os.path.abspath, sys.argv[1:5])
VIEWERS = int(sys.argv[5]) if len(sys.argv) > 5 else 200
SECONDS = int(sys.argv[6]) if len(sys.argv) > 6 else 6
DEMO = pathlib.Path(FIXTURES) / "demos/ddnet_dm1.demo"  # half a minute
MOST_BEHIND = 3  # seconds


def metric(port, name):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return int(re.search(rf"^teewire_relay_{name} (\d+)$", answer.read().decode(), re.M)[1])


def listening(port):
    with socket.socket() as link:
        return link.connect_ex(("127.0.0.1", port)) == 0


def changed(name, folder, *changes):
    text = (pathlib.Path(WEB) / name).read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    file = folder / name
    file.write_text(text)
    return file


def nginx(folder, relay, port):
    site = changed("nginx.conf", folder, ("127.0.0.1:8080", f"127.0.0.1:{relay}"), ("listen 80;", f"listen 127.0.0.1:{port};"),
                   ("/var/cache/nginx/teewire", str(folder / "cache")))
    whole = folder / "whole.conf"
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    whole.write_text(f"user root; daemon off; pid {folder}/pid; worker_processes 1; worker_rlimit_nofile 20000; "
                     f"error_log {folder}/errors;\nevents {{ worker_connections 19000; }}\n"
                     f"http {{ access_log off; {temporary} include {site}; }}\n")
    return ["nginx", "-e", str(folder / "errors"), "-c", str(whole)]


def varnish(folder, relay, port):
    script = changed("varnish.vcl", folder, ('.port = "8080"', f'.port = "{relay}"'))
    return ["varnishd", "-F", "-n", str(folder / "varnish"), "-a", f"127.0.0.1:{port}", "-f", str(script), "-s", "malloc,64m",
            "-j", "none"]


def watch(port, relay, viewers, joined):
    done = subprocess.run([WATCHERS, "127.0.0.1", str(port), str(relay), str(viewers), str(SECONDS), str(joined)],
                          capture_output=True, text=True, timeout=SECONDS + 120)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return json.loads(done.stdout)


def check(name, command, folder):
    relay, port = free_port(socket.SOCK_STREAM), free_port(socket.SOCK_STREAM)
    source = subprocess.Popen([TEEWIRE, "relay", DEMO, "--http", str(relay), "--bind", "127.0.0.1", "--window", "600"],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    cache = None
    try:
        if command:
            cache = subprocess.Popen(command(folder, relay, port), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.STDOUT)
            until(lambda: listening(port), f"{name} listens", cache)
        else:
            port = relay
        until(lambda: listening(relay), "the relay listens", source)
        until(lambda: metric(relay, "fragments_total") > 0, "there is something to see", source)
        asked = []
        for viewers in (5, VIEWERS):
            before = metric(relay, "http_body_bytes_total")
            found = watch(port, relay, viewers, folder / "fragments")
            asked.append(metric(relay, "http_body_bytes_total") - before)
            print(f"{name}: {json.dumps(found)}, {asked[-1]} bytes of the relay")
            assert found["failures"] == found["wrong"] == 0 and found["least"] >= SECONDS - 3, found
            assert found["age_p99"] <= MOST_BEHIND, found
        # Only the observer requests `sync` fifty times a second.
        if command:
            assert asked[1] < 2 * asked[0] + 100000, asked
        index = json.load(urllib.request.urlopen(f"http://127.0.0.1:{relay}/sync", timeout=10))
        start = urllib.request.urlopen(f"http://127.0.0.1:{port}/{index['recordings'][0]['start']}", timeout=10).read()
        whole = folder / "joined.demo"
        whole.write_bytes(start + (folder / "fragments").read_bytes())
        subprocess.run([TEEWIRE, "verify", whole], check=True)
        done = subprocess.run([TEEWIRE, "diff", "--common-ticks", DEMO, whole], stdout=subprocess.PIPE, text=True)
        assert done.returncode == 0, done.stdout[:300]
    finally:
        for process in filter(None, (cache, source)):
            process.terminate()
            process.wait()


def main():
    own_network()
    caches = {"nothing": None}
    for program, command in (("nginx", nginx), ("varnishd", varnish)):
        if shutil.which(program):
            caches[program] = command
    if len(caches) == 1:
        skip("there is neither nginx nor varnishd")
    for name, command in caches.items():
        with scratch() as folder:
            check(name, command, pathlib.Path(folder))


main()
