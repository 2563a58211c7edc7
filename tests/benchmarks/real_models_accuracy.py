"""One model's scores in lm-evaluation-harness, over engines that must not differ.

    python real_models_accuracy.py MODEL_DIR --unpatched ENGINE --patched ENGINE

Serves the model by the unpatched engine, the patched one with the cache off, and with it on, and runs
the tasks of real_models_accuracy/ against each through `local-completions`. Prints a row each and
exits with 1 unless all scores are the same and the cache has kept rows. Needs the packages of
tests/crosscheck/requirements.txt and no network.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

TASKS = Path(__file__).resolve().parent / "real_models_accuracy"


def kept_rows(port: int) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as metrics:
        lines = metrics.read().decode().splitlines()
    return sum(int(float(line.split()[-1])) for line in lines if line.startswith("lane_reused_tokens_total"))


def serve(engine: str, model: Path, environment: dict) -> tuple[subprocess.Popen, int]:
    command = [engine, "serve", "-m", model, "--backend", "cpu", "--port", "0", "--context", "512", "--prompt-rows", "32"]
    lane = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ | environment
    )
    return lane, int(lane.stdout.readline().strip().rsplit(":", 1)[1])


def evaluate(model: Path, port: int, limit: int) -> dict[str, float]:
    address = f"http://127.0.0.1:{port}/v1/completions"
    arguments = f"model={model.name},base_url={address},tokenizer={model.resolve()},num_concurrent=1,max_retries=1"
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "lm_eval", "--model", "local-completions", "--model_args", arguments]
        command += ["--tasks", "facts,facts_written", "--include_path", TASKS, "--output_path", out]
        command += ["--limit", str(limit)]
        offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
        subprocess.run(command, check=True, cwd=TASKS, env=os.environ | offline, stdout=subprocess.DEVNULL)
        results = json.loads(next(Path(out).rglob("results*.json")).read_text())["results"]
    return {"facts": results["facts"]["acc,none"], "facts_written": results["facts_written"]["exact_match,none"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--unpatched", required=True)
    parser.add_argument("--patched", required=True)
    parser.add_argument("--limit", type=int, default=30, help="questions of each task")
    options = parser.parse_args()
    rows, kept = [], 0
    for name, engine, cache in [
        ("unpatched", options.unpatched, "0"),
        ("cache off", options.patched, "0"),
        ("cache on", options.patched, "1"),
    ]:
        lane, port = serve(engine, options.model, {"TF_GLM53_PREFIX_CACHE": cache})
        try:
            rows.append(evaluate(options.model, port, options.limit))
            kept = kept_rows(port)
        finally:
            lane.terminate()
            lane.wait()
        print(f"{options.model.name}, {name}: {rows[-1]}, {kept} rows kept", flush=True)
    return 0 if rows[0] == rows[1] == rows[2] and kept > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
