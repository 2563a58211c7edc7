"""With the cache a turn's cost stays flat as its prompt grows; without it, it grows with the prompt.

Counts the rows that each turn computes, which is exact, and shows the wall time beside it. The long form of
the project's description: --turns 20 --from-tokens 2700 --to-tokens 15900 --context 16384 on a model with room for
it, such as `engine init-model --preset mini`'s.
"""

import sys
import time

from lane import Lane, cached_of, finish, parser, print_table

PATIENT = ("--request-seconds", "36000")  # a slow machine may take long for a long prompt
WORDS = "The next part of a long session repeats what came before it and adds a few lines. "


def measure(lane: Lane, turns: int, first: int, last: int) -> list[dict]:
    """One conversation whose prompt grows from `first` to `last` tokens in even steps."""
    prompt = lane.post("/tokenize", {"content": WORDS * (last // 8)})["tokens"][:last]
    lane.forget()
    rows = []
    for turn in range(turns):
        length = first + (last - first) * turn // max(1, turns - 1)
        begin = time.perf_counter()
        reply = lane.post("/v1/completions", {"prompt": prompt[:length], "max_tokens": 4, "temperature": 0})
        seconds = time.perf_counter() - begin
        rows.append({"tokens": length, "cached": cached_of(reply), "computed": reply["timings"]["prompt_n"], "s": seconds})
        if sys.stderr.isatty():
            print(f"\r{length} of {last} tokens: {seconds:.2f} s ", end="", file=sys.stderr)
    return rows


def slope(rows: list[dict], of: str) -> float:
    """Least squares, per 1,000 prompt tokens, from the second turn on."""
    rows = rows[1:]
    x, y = [r["tokens"] / 1000 for r in rows], [r[of] for r in rows]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def draw(path: str, series: dict[str, list[dict]]) -> None:
    """Wall time over prompt tokens, a line for each series."""
    width, height, margin = 640, 360, 50
    most_x = max(r["tokens"] for rows in series.values() for r in rows)
    most_y = max(r["s"] for rows in series.values() for r in rows)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">']
    parts.append('<rect width="100%" height="100%" fill="white"/>')
    parts.append(f'<path d="M{margin},10V{height - margin}H{width - 10}" fill="none" stroke="black"/>')
    parts.append(f'<text x="{width - 150}" y="{height - 15}">prompt tokens, to {most_x}</text>')
    parts.append(f'<text x="5" y="20">{most_y:.2f} s a turn</text>')
    for i, (name, rows) in enumerate(series.items()):
        colour = ("#c33", "#36c")[i % 2]
        points = " ".join(
            f"{margin + r['tokens'] / most_x * (width - margin - 20):.1f},"
            f"{height - margin - r['s'] / most_y * (height - margin - 30):.1f}"
            for r in rows
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{margin + 20}" y="{40 + 16 * i}" fill="{colour}">{name}</text>')
    with open(path, "w") as file:
        file.write("\n".join([*parts, "</svg>"]) + "\n")


def main() -> None:
    options = parser(__doc__.split("\n")[0])
    options.add_argument("--turns", type=int, default=8)
    options.add_argument("--from-tokens", type=int, default=400)
    options.add_argument("--to-tokens", type=int, default=3200)
    options.add_argument("--svg", help="file to draw the wall times into")
    options = options.parse_args()
    if options.turns < 3:
        raise SystemExit("a slope needs three turns")
    sizes = (options.turns, options.from_tokens, options.to_tokens)
    with Lane.open(options, settings=PATIENT) as lane:
        warm = measure(lane, *sizes)
    series = {"with the cache": warm}
    if not options.lane:
        with Lane.open(options, cache=False, settings=PATIENT) as lane:
            series["without"] = measure(lane, *sizes)
    for name, rows in series.items():
        print(f"{name}: {slope(rows, 's'):.4f} s and {slope(rows, 'computed'):.1f} rows a turn more per 1,000 tokens")
        print_table(list(rows[0]), [list(r.values()) for r in rows])
    if options.svg:
        draw(options.svg, series)
    failures = []
    step = (options.to_tokens - options.from_tokens) // (options.turns - 1)
    most = step + 2 * options.prompt_rows  # the suffix, and what the grid rounds away
    for row in warm[1:]:
        if row["computed"] > most:
            failures.append(f"a turn of {row['tokens']} tokens computed {row['computed']} rows, not at most {most}")
    if "without" in series and slope(series["without"], "computed") < 900:
        failures.append("without the cache the rows computed do not grow with the prompt: nothing was measured")
    finish(failures)


if __name__ == "__main__":
    main()
