"""The views of several clients, and the expected result of `teewire merge`: the rule, without the program's own code."""
import json
import subprocess

from real_servers import demo_ticks

# Items that exist only for the client that they are sent to.
OWN_ITEMS = {"spectator_info", "ddnet_spectator_info", "spectator_count"}
# Data that a server sends only to some of its clients: health, armour and ammunition of a player to that player and those who
# watch it, latencies to those who look at the scoreboard. Its own demo has all of the former, and other latencies.
TOLD_TO_SOME = {"character.health", "character.armor", "character.ammo_count", "player_info.latency"}
GAP = 10  # ticks between two snapshots of one client, at whose ticks between them its things stay


def read(teewire, path):
    """{tick: {(type, id): fields}} of every tick that has a marker, from the first snapshot on."""
    lines = subprocess.run([teewire, "dump", path], check=True, capture_output=True, text=True).stdout.splitlines()
    changes = {}
    for o in map(json.loads, lines):
        changes[o["tick"]] = {(kind, number): for_all(kind, fields) for kind, items in o["items"].items()
                              if kind not in OWN_ITEMS and kind != "extended_type" for number, fields in items.items()}
    out, last = {}, None
    for tick in demo_ticks(path):
        last = changes.get(tick, last)
        if last is not None:
            out[tick] = last
    return out


def described(items):
    """DDNet's servers describe a new type one snapshot late. Until then, it is not a type."""
    return {key for key in items if not key[0].startswith("type_")}


def for_all(kind, fields):
    """Without data that a client gets about itself: which player it is, and the clock of its race."""
    if fields.get("local"):
        fields = {**fields, "local": type(fields["local"])()}
    if kind == "game_info" and "racetime" in fields.get("game_state_flags", []):
        fields = {**fields, "warmup_timer": 0,
                  "game_state_flags": [f for f in fields["game_state_flags"] if f != "racetime"]}
    return fields


def neighbours(view, ticks):
    """For each tick, the last one before it that the view has, if the next one is near enough."""
    own, out, at = sorted(view), {}, 0
    for tick in sorted(ticks):
        while at < len(own) and own[at] <= tick:
            at += 1
        if 0 < at < len(own) and own[at] - own[at - 1] <= GAP:
            out[tick] = own[at - 1]
    return out


def check(merged, views):
    """Every item that any view has at a tick is there, as one of them has it; everything else is what a view between two of
    its snapshots had, and lasts. (ticks in several views, items, items of one view alone by view, items that stayed)"""
    assert set(merged) == set().union(*views), "ticks that no view has, or that are missing"
    before = [neighbours(view, merged) for view in views]
    common = items = stayed = 0
    alone = [0] * len(views)
    for tick, got in merged.items():
        here = [view[tick] for view in views if tick in view]
        common += len(here) > 1
        wanted = described(set().union(*here))
        missing = wanted - got.keys()
        assert not missing, f"tick {tick}: {missing} were seen and are not there"
        for key, fields in ((key, got[key]) for key in described(got)):
            items += 1
            if key in wanted:
                assert any(view.get(key) == fields for view in here), f"tick {tick}: {key} is as nobody saw it: {fields}"
                continue
            stayed += 1
            assert not key[0].startswith("event_"), f"tick {tick}: {key} does not last"
            assert any(tick not in view and tick in near and view[near[tick]].get(key) == fields
                       for view, near in zip(views, before)), f"tick {tick}: nobody saw {key}"
        for i, view in enumerate(views):
            others = set().union(*(v[tick] for v in views if v is not view and tick in v))
            alone[i] += len(view.get(tick, {}).keys() - others)
    return common, items, alone, stayed


def compare(merged, server):
    """With the server's own demo, at the ticks that both have: ({field: how often it differs}, {type that it has not:
    how often}), and how many items are equal."""
    differ, unknown, equal = {}, {}, 0
    for tick in merged.keys() & server.keys():
        for kind, number in described(merged[tick]):
            fields = merged[tick][kind, number]
            own = server[tick].get((kind, number))
            if own is None and any(k.startswith("type_") and n == number for k, n in server[tick]):
                continue
            if own is None:
                unknown[kind] = unknown.get(kind, 0) + 1
                continue
            wrong = [f"{kind}.{f}" for f in fields.keys() | own.keys() if fields.get(f) != own.get(f)]
            equal += not wrong
            for name in wrong:
                differ[name] = differ.get(name, 0) + 1
    return differ, unknown, equal
