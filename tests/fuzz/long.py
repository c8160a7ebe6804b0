#!/usr/bin/env python3
"""Runs libFuzzer targets for a while each, and prints what they did.

The corpus of each target stays in BUILD/corpus, and so does what was run, for the next run. Inputs that find something
stay in BUILD/findings. Recordings and maps in the folder that TEEWIRE_CORPUS names are taken as seeds as well."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

# Bytes at most: what the target can make something of, and no more, so that it stays fast.
MAX_LEN = {
    "archive": 8192,
    "archive_block": 4096,
    "broadcast": 8192,
    "c_interface": 2048,
    "capture": 16384,
    "capture_verbs": 16384,
    "codec": 512,
    "delta": 1024,
    "demo": 4096,
    "demo_verbs": 8192,
    "map": 8192,
    "map_verbs": 8192,
    "message": 256,
    "network": 1500,
    "record": 4096,
    "serve": 8192,
    "snapshot": 512,
    "transfer": 1024,
}
here = pathlib.Path(__file__).resolve().parent
fixtures = here.parent.parent / "fixtures"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="a build folder with -Dfuzz=true")
    parser.add_argument("seconds", type=int, help="for each target; 0: its corpus alone")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="all that are there, if none is named")
    parser.add_argument("--jobs", type=int, default=1, help="targets at the same time")
    parser.add_argument("--no-corpus", action="store_true", help="begin with seeds alone, and keep nothing")
    options = parser.parse_args()
    build = options.build.resolve()
    programs = build / "tests/fuzz"
    there = [t for t in MAX_LEN if (programs / f"fuzz-{t}").exists()]
    if unknown := set(options.targets) - set(there):
        parser.error(f"no target {', '.join(sorted(unknown))} in {programs}")
    targets = options.targets or there
    if not targets:
        parser.error(f"no targets in {programs}")

    seeds = build / "seeds"
    subprocess.run([programs / "make_seeds", fixtures, seeds, *further_files()], check=True, stdout=subprocess.DEVNULL)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda t: run(build, t, options.seconds, not options.no_corpus), targets))

    print(f"{'target':<13} {'executions':>12} {'per s':>8} {'edges':>6} {'features':>9} {'corpus':>7} {'findings':>9}")
    for r in results:
        speed = r["executions"] // r["seconds"] if r["seconds"] else "-"
        print(f"{r['target']:<13} {r['executions']:>12} {speed:>8} {r['edges']:>6} {r['features']:>9} {r['corpus']:>7} "
              f"{len(r['findings']):>9}")
    print(f"{'all':<13} {sum(r['executions'] for r in results):>12}")
    if not options.no_corpus:
        print_total(build, results)
    for r in results:
        for path in r["findings"]:
            print(f"FOUND by {r['target']}: {path}")
            print(r["log"][-4000:])
        if r["code"] != 0 and not r["findings"]:
            print(f"FAILED: {r['target']}\n{r['log'][-4000:]}")
    return 1 if any(r["findings"] or r["code"] != 0 for r in results) else 0


def further_files() -> list[pathlib.Path]:
    folder = os.environ.get("TEEWIRE_CORPUS")
    if not folder:
        return []
    files = [f for kind in ("demos/**/*.demo", "maps/**/*.map") for f in pathlib.Path(folder).glob(kind)]
    return sorted(f for f in files if f.stat().st_size < 20 << 20)


def run(build: pathlib.Path, target: str, seconds: int, keep: bool) -> dict:
    findings = build / "findings"
    findings.mkdir(exist_ok=True)
    before = set(findings.glob(f"{target}-*"))
    folders = [build / "seeds" / target]
    if (fixtures / "fuzz" / target).is_dir():
        folders.append(fixtures / "fuzz" / target)
    if keep:
        corpus = build / "corpus" / target
        corpus.mkdir(parents=True, exist_ok=True)
        folders.insert(0, corpus)
    else:
        folders.insert(0, findings / f"{target}.new")
        folders[0].mkdir(exist_ok=True)
    limit = [f"-max_total_time={seconds}"] if seconds else ["-runs=0"]
    command = [build / "tests/fuzz" / f"fuzz-{target}", f"-max_len={MAX_LEN[target]}", "-timeout=20",
               "-rss_limit_mb=4096",
               "-report_slow_units=1000",  # the machine may have paused
               f"-artifact_prefix={findings}/{target}-", "-print_final_stats=1", *limit, *folders]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    log = done.stderr
    if not keep:
        for path in folders[0].iterdir():
            path.unlink()
        folders[0].rmdir()
    number = lambda pattern: int(([0] + re.findall(pattern, log))[-1])
    return {
        "target": target,
        "code": done.returncode,
        "seconds": number(r"Done \d+ runs in (\d+) second"),
        "executions": number(r"stat::number_of_executed_units: (\d+)"),
        "edges": number(r"cov: (\d+)"),
        "features": number(r"ft: (\d+)"),
        "corpus": number(r"corp: (\d+)"),
        "findings": sorted(set(findings.glob(f"{target}-*")) - before),
        "log": log,
    }


def print_total(build: pathlib.Path, results: list[dict]) -> None:
    path = build / "executions.json"
    totals = json.loads(path.read_text()) if path.exists() else {}
    for r in results:
        totals[r["target"]] = totals.get(r["target"], 0) + r["executions"]
    path.write_text(json.dumps(totals, indent=1, sort_keys=True) + "\n")
    print(f"{'ever':<13} {sum(totals.values()):>12}   in {build}")


if __name__ == "__main__":
    sys.exit(main())
