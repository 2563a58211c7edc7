#!/usr/bin/env python3
"""The patched engine on the CPU prints the digests that it printed on an H200, with the cache on.

tests/cuda/digests/on_the_grid.txt holds the totals of `engine digest` of the whole series on an H200:
the presets with seed 1, and the built-in model. The unpatched engine's are tests/cuda/digests_test.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def model_folder(engine: str, name: str, folder: str) -> str:
    if name == "reference":
        return str(ROOT / "engine/model/reference")
    path = f"{folder}/{name}"
    subprocess.run([engine, "init-model", "--preset", name, "--seed", "1", path], check=True)
    return path


def total(engine: str, model: str) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TF_GLM53_")}
    command = [engine, "digest", "--model", model, "--backend", "cpu", "--threads", "1"]
    out = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    return out.splitlines()[-1].split()[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", required=True, help="the engine with the whole series applied")
    engine = parser.parse_args().engine
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for line in (ROOT / "tests/cuda/digests/on_the_grid.txt").read_text().splitlines():
            expected, name = line.split()
            found = total(engine, model_folder(engine, name, folder))
            failures += found != expected
            print(f"{name:12} H200 {expected}  CPU {found}  {'equal' if found == expected else 'DIFFERS'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
