#!/usr/bin/env python3
"""Debian's real clients watch a replay, where a display can be had: they join, record what they see, and a screenshot
of each is kept. They open demos that were cut and joined, too, and seek in them.
usage: test_real_clients.py TEEWIRE TRAFFIC FOLDER_FOR_SCREENSHOTS FIXTURES"""
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

from real_servers import DDNet, PACKAGES, Teeworlds, ended, free_port, need, own_network, scratch, skip, snapshots, until, \
    until_line

TEEWIRE, TRAFFIC, SHOTS, FIXTURES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
CLIENTS = {"/usr/games/DDNet": "ddnet", "/usr/games/teeworlds": "teeworlds", "/usr/bin/Xvfb": "xvfb",
           "/usr/bin/openbox": "openbox", "/usr/bin/import": "imagemagick", "/usr/bin/xdotool": "xdotool"}
WATCHING = 16


def make_demo(folder, server, protocol):
    """A recording of moving players on a real server."""
    with server:
        players = subprocess.Popen([TRAFFIC, "play", server.address, protocol, "8", "0"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        until_line(players.stdout, "ready")
        subprocess.run([TEEWIRE, "record", server.address, "-o", folder / f"{protocol}.demo", "--duration", "6",
                        "--protocol", protocol], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        players.stdin.close()
        players.stdin = None
        ended(players)
    return folder / f"{protocol}.demo"


def complete(demo):
    return subprocess.run([TEEWIRE, "verify", demo], capture_output=True).returncode == 0


def start_display(**quiet):
    """A display of its own: its process and number."""
    read, write = os.pipe()
    process = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24"], pass_fds=[write], **quiet)
    os.close(write)
    with open(read) as numbers:
        return process, numbers.readline().strip()


def verify(demo):
    return subprocess.run([TEEWIRE, "verify", demo], capture_output=True, text=True)


def show(demo, port, relayed, started):
    """Shows the demo to clients: `serve`, or the second of two relays."""
    at = ["--bind", "127.0.0.1"]
    if not relayed:
        command = ["serve", demo, "--port", str(port), "--loop", *at]
    else:
        first = free_port(socket.SOCK_STREAM)
        started.append(subprocess.Popen([TEEWIRE, "relay", demo, "--http", str(first), "--loop", *at],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        command = ["relay", f"http://127.0.0.1:{first}", "--udp", str(port), *at]
    started.append(subprocess.Popen([TEEWIRE, *command], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
    return started[-1]


def watch(folder, name, program, options, demo, relayed=False, words=""):
    """Shows the demo to the client, which logs these words and records what it sees."""
    home = folder / name
    home.mkdir()
    quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    screen, display = start_display(**quiet)
    environment = dict(os.environ, HOME=str(home), DISPLAY=f":{display}", SDL_AUDIODRIVER="dummy",
                       LIBGL_ALWAYS_SOFTWARE="1")
    port = free_port()
    started = [screen]
    try:
        started.append(subprocess.Popen(["openbox"], env=environment, **quiet))
        server = show(demo, port, relayed, started)
        log = open(home / "log", "w")
        started.append(subprocess.Popen([program, "gfx_fullscreen 0", "gfx_screen_width 640", "gfx_screen_height 480",
                                         "snd_enable 0", "cl_auto_demo_record 1", *options,
                                         f"connect 127.0.0.1:{port}"], env=environment, stdout=log, stderr=log))
        time.sleep(WATCHING)
        shots = []
        for number in (1, 2):
            shots.append(SHOTS / f"{name}_{number}.png")
            subprocess.run(["import", "-window", "root", shots[-1]], env=environment, check=True)
            time.sleep(1)
        assert shots[0].read_bytes() != shots[1].read_bytes(), "nothing moves"
        server.send_signal(signal.SIGINT)
        code, _, report = ended(server)
        # The client hears that, and completes its demo.
        end = time.monotonic() + 40
        while time.monotonic() < end and not any(complete(d) and verify(d).returncode == 0
                                                  for d in home.rglob("*.demo")):
            time.sleep(1)
    finally:
        for p in reversed(started):
            p.terminate()
        for p in started:
            try:
                p.wait(3)
            except subprocess.TimeoutExpired:
                p.kill()
    said = (home / "log").read_text(errors="replace")
    assert code == 0 and "watches" in report and words in said, report + said[-2000:]
    recorded = list(home.rglob("*.demo"))
    assert len(recorded) == 1, (recorded, report)
    verified = verify(recorded[0])
    assert verified.returncode == 0, verified.stdout + verified.stderr
    seen = snapshots(TEEWIRE, recorded[0])
    characters = max(len((s or {}).get("character", {})) for s in seen.values())
    print(f"{name}: {report.splitlines()[-1]}; its own recording has {len(seen)} ticks and up to {characters} "
          f"characters; screenshots {shots[0]} and {shots[1]}")
    assert len(seen) > 100 and characters > 0


def press_key(key, environment):
    subprocess.run(["xdotool", "key", key], env=environment, check=True)


def click_near_the_beginning(environment):
    """The bar that 0.7's client shows in its menu, which begins with the pointer in the middle."""
    press_key("Escape", environment)
    for x, y in ((1, 1), (0, 193), (-255, 0)):  # the first one is lost
        time.sleep(1)
        subprocess.run(["xdotool", "mousemove_relative", "--", str(x), str(y)], env=environment, check=True)
    for action in ("mousedown", "mouseup"):
        time.sleep(1)
        subprocess.run(["xdotool", action, "1"], env=environment, check=True)


def play(folder, name, program, options, demo, last, times, again, seek):
    """The client opens the demo, has logged the line `last` so many times, as often as the demo has it, is made to go back,
    and comes to the line `again` once more. A demo without words shows another picture after a while."""
    home = folder / name
    for place in (".teeworlds", ".local/share/ddnet", ".local/share/teeworlds"):
        (home / place / "demos").mkdir(parents=True)
        (home / place / "demos" / "edited.demo").write_bytes(demo.read_bytes())
    quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    screen, display = start_display(**quiet)
    environment = dict(os.environ, HOME=str(home), DISPLAY=f":{display}", SDL_AUDIODRIVER="dummy",
                       LIBGL_ALWAYS_SOFTWARE="1")
    environment.pop("XDG_DATA_HOME", None)
    started = [screen, subprocess.Popen(["openbox"], env=environment, **quiet)]
    said = lambda: (home / "log").read_text(errors="replace")
    shots = [SHOTS / f"edited_{name}_{number}.png" for number in (1, 2)]
    try:
        with open(home / "log", "w") as log:
            client = subprocess.Popen([program, "gfx_fullscreen 0", "gfx_screen_width 640", "gfx_screen_height 480",
                                       "snd_enable 0", *options, "play demos/edited.demo"], env=environment, stdout=log,
                                      stderr=log)
        started.append(client)
        until(lambda: said().count(last) >= times, f"{name} comes to {last}", client)
        if not again:
            time.sleep(5)
        subprocess.run(["import", "-window", "root", shots[0]], env=environment, check=True)
        before = said().count(again or "")
        seek(environment)
        if again:
            until(lambda: said().count(again) > before, f"{name} has gone back to {again}", client)
        else:
            time.sleep(5)
        subprocess.run(["import", "-window", "root", shots[1]], env=environment, check=True)
        assert shots[0].read_bytes() != shots[1].read_bytes(), "nothing moves"
        assert "failed: " not in said().partition("demo_player")[2], said()[-2000:]
    finally:
        for p in reversed(started):
            p.terminate()
        for p in started:
            try:
                p.wait(3)
            except subprocess.TimeoutExpired:
                p.kill()
    print(f"{name}: opens {demo.name} and goes back in it; screenshots {shots[0]} and {shots[1]}")


def edit(folder, name, *pieces):
    """A demo of pieces: (demo, options of cut...)."""
    quiet = dict(check=True, stderr=subprocess.DEVNULL)
    for number, (demo, *options) in enumerate(pieces):
        subprocess.run([TEEWIRE, "cut", demo, *options, "-o", folder / f"{name}-{number}.demo"], **quiet)
    subprocess.run([TEEWIRE, "join", *(folder / f"{name}-{n}.demo" for n in range(len(pieces))), "-o", folder / f"{name}.demo"],
                   **quiet)
    return folder / f"{name}.demo"


def play_edited(folder):
    # A player says hello four times.
    yard = FIXTURES / "demos/ddnet_yard.demo"
    demo = edit(folder, "yard", (yard, "--from", "0:00.3"), (yard, "--to", "0:02"), (yard, "--from", "0:02"))
    play(folder, "DDNet", "/usr/games/DDNet", ["gfx_refresh_rate 25"], demo, "bot 1: hello", 4, "bot 1: hello",
         lambda environment: press_key("0", environment))
    old = FIXTURES / "demos/ddnet_v3.demo"  # as of 0.6.0
    demo = edit(folder, "old", (old, "--from", "0:02"), (old, "--to", "0:04"))
    play(folder, "DDNet-v3", "/usr/games/DDNet", ["gfx_refresh_rate 25"], demo, "loading done. datafile='maps/dm1.map'", 1, None,
         lambda environment: press_key("5", environment))
    demo = edit(folder, "seven", (FIXTURES / "demos/teeworlds07_dm1.demo", "--from", "0:02"))
    play(folder, "Teeworlds", "/usr/games/teeworlds", ["snd_init 0", "cl_skip_start_menu 1"], demo, "bot02: /list", 1,
         "bot00: o", click_near_the_beginning)


def main():
    if any(not os.path.exists(p) for p in CLIENTS) and not os.environ.get("TEEWIRE_INSTALL_CLIENTS"):
        skip("no real clients here: " + " ".join(CLIENTS.values()) + " (TEEWIRE_INSTALL_CLIENTS=1 installs them)")
    need(PACKAGES)
    need(CLIENTS)
    own_network()
    SHOTS.mkdir(parents=True, exist_ok=True)
    with scratch() as folder:
        demo = make_demo(folder, DDNet(folder / "server06", options=["sv_motd remember this"]), "0.6")
        # The message of the day came before the piece, and the client gets it nevertheless.
        piece = edit(folder, "lasting", (demo, "--from", "0:01"))
        ddnet = ["gfx_refresh_rate 25", "cl_print_motd 1"]
        watch(folder, "ddnet", "/usr/games/DDNet", ddnet, piece, words="remember this")
        watch(folder, "ddnet_relayed", "/usr/games/DDNet", ddnet, piece, relayed=True, words="remember this")
        demo = make_demo(folder, Teeworlds(folder / "server07"), "0.7")
        watch(folder, "teeworlds", "/usr/games/teeworlds", ["snd_init 0", "cl_skip_start_menu 1"], demo)
        watch(folder, "teeworlds_relayed", "/usr/games/teeworlds", ["snd_init 0", "cl_skip_start_menu 1"], demo, relayed=True)
        play_edited(folder)
    print("all good")


if __name__ == "__main__":
    main()
