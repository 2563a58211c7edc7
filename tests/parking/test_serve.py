#!/usr/bin/env python3
"""The program that parks, as somebody runs it: options, a restart, a kill, and a folder that cannot be used.

usage: test_serve.py ENGINE"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.request

engine = sys.argv[1]
folder = tempfile.TemporaryDirectory()
parked = os.path.join(folder.name, "parked")
disk = ["--park-dir", parked, "--park-disk", "1G"]


def check(holds, what):
    if not holds:
        sys.exit(f"FAILED: {what}")


class Lane:
    def __init__(self, *options, grid="64"):
        self.process = subprocess.Popen([engine, "serve", "--port", "0", "--prompt-rows", grid, *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        check("http://" in line, f"no lane: {self.process.stderr.read() if not line else line}")
        self.url = line.split()[-1]

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.url + path, data)) as reply:
            return json.load(reply)

    def complete(self, text):
        reply = self.ask("/v1/completions", {"prompt": text, "max_tokens": 4, "temperature": 0})
        return reply["choices"][0]["text"], reply["timings"]

    def end(self, sign=signal.SIGTERM):
        self.process.send_signal(sign)
        errors = self.process.communicate()[1]
        return [line for line in errors.splitlines() if "parking" in line]


def refused(*options):
    run = subprocess.run([engine, "serve", "--port", "0", *options], capture_output=True, text=True, timeout=60)
    check(run.returncode != 0, f"{options} was taken")
    check(len(run.stderr.strip().splitlines()) <= 2, f"{options}: more than one error: {run.stderr}")
    return run.stderr


def text(name):
    return " ".join(f"{name} {i}" for i in range(200))


print("options that cannot be are refused at start")
check("--park-disk" in refused("--park-dir", parked), "a folder without a size")
check("--park-dir" in refused("--park-disk", "1G"), "a size without a folder")
check("park-ram" in refused("--park-ram", "much"), "no size")
check("more than this machine's" in refused("--park-ram", "900000G"), "more memory than there is")
check("/proc/parked" in refused("--park-dir", "/proc/parked", "--park-disk", "1G"), "a folder that cannot be made")
os.environ["TF_GLM53_PREFIX_CACHE"] = "0"
check("TF_GLM53_PREFIX_CACHE" in refused("--park-ram", "64M"), "parking without the cache")
del os.environ["TF_GLM53_PREFIX_CACHE"]

print("switching back, from memory")
lane = Lane("--park-ram", "256M")
cold = lane.complete(text("one"))
lane.complete(text("two"))
again = lane.complete(text("one"))
check(again[0] == cold[0], "another reply")
check(again[1]["parked_from"] == "ram" and again[1]["parked_n"] > 0, f"nothing came back: {again}")
check(lane.end() == [], "lines in the log")

print("from disk, after a restart")
lane = Lane(*disk)
lane.complete(text("one"))
lane.complete(text("two"))
check("another engine parks there" in refused(*disk), "two engines share a folder")
check(lane.end() == [], "lines in the log")
lane = Lane(*disk)
back = lane.complete(text("one"))
check(back[0] == cold[0] and back[1]["parked_from"] == "disk", f"nothing came back: {back}")

print("a saved conversation, after a kill")
saved = lane.ask("/slots/0?action=save", {"filename": "mine"})
check(saved["n_saved"] >= back[1]["parked_n"], saved)
lane.end(signal.SIGKILL)
lane = Lane(*disk)
check(lane.ask("/slots/0?action=restore", {"filename": "mine"})["n_restored"] == saved["n_saved"], "restore")
restored = lane.complete(text("one"))
check(restored[0] == cold[0] and restored[1]["cache_n"] == saved["n_saved"], restored)
lane.end()

print("another grid and other weights find nothing, and take nothing away")
files = sorted(os.listdir(parked))
lane = Lane(*disk, grid="32")
check(lane.ask("/slots")[1:] == [], "rows of another grid")
lane.end()
check(sorted(os.listdir(parked)) == files, "files of another grid were removed")

print("a damaged file is one line and a cold reply")
for name in os.listdir(parked):
    if name.endswith(".parked"):
        with open(os.path.join(parked, name), "r+b") as file:
            file.seek(-100, 2)
            byte = file.read(1)
            file.seek(-100, 2)
            file.write(bytes([byte[0] ^ 4]))
lane = Lane(*disk)
damaged = lane.complete(text("one"))
check(damaged[0] == cold[0] and damaged[1]["cache_n"] == 0, damaged)
lines = lane.end()
check(len(lines) == 1 and "its rows are damaged" in lines[0], lines)
print("passed")
