"""Reused replies equal cold ones, and clients that cross or leave never see each other's text.

First alternating pairs: a turn that extends the one before is asked on the warm lane, then again after
another conversation has taken the lane's rows; text and log-probabilities must be the same. Then many
clients at once, each with a marker of its own in its prompt, some of which hang up in the middle.
"""

import http.client
import json
import random
import threading
from urllib.parse import urlsplit

from lane import ENDLESS, Lane, LaneError, cached_of, finish, parser, print_table, text_of


def essence(reply: dict) -> tuple:
    """What must be equal, bit for bit."""
    tokens = reply["choices"][0]["logprobs"]["content"]
    return text_of(reply), [(t["bytes"], t["logprob"], t["top_logprobs"]) for t in tokens]


def check_pairs(lane: Lane, pairs: int, expect_reuse: bool) -> list[str]:
    failures, rows = [], []
    words = random.Random(1)
    messages = [{"role": "system", "content": "You answer questions about these facts.\n" + made_up(words, 60)}]
    fields = {"max_tokens": 24, "logprobs": True, "top_logprobs": 2}
    for pair in range(pairs):
        messages.append({"role": "user", "content": f"Question {pair}: {made_up(words, 12)}?"})
        reused = lane.chat(messages, **fields)
        lane.forget()
        cold = lane.chat(messages, **fields)
        same = essence(reused) == essence(cold)
        rows.append([pair, reused["usage"]["prompt_tokens"], cached_of(reused), cached_of(cold), "yes" if same else "NO"])
        if not same:
            failures.append(f"pair {pair}: the reused reply differs from the cold one")
        if cached_of(cold) != 0:
            failures.append(f"pair {pair}: the cold run reused {cached_of(cold)} rows")
        if expect_reuse and pair > 0 and cached_of(reused) == 0:
            failures.append(f"pair {pair}: nothing was reused")
        messages.append({"role": "assistant", "content": text_of(reused)})
    print_table(["pair", "prompt", "cached", "cached cold", "equal"], rows)
    return failures


def made_up(words: random.Random, count: int) -> str:
    return " ".join("".join(words.choices("abcdefghij", k=words.randint(2, 7))) for _ in range(count))


def hang_up(lane: Lane, body: dict) -> None:
    """Reads the first bytes of a stream, then closes the connection."""
    place = urlsplit(lane.url)
    connection = http.client.HTTPConnection(place.hostname, place.port)
    connection.request("POST", "/v1/chat/completions", json.dumps(body | {"stream": True} | ENDLESS))
    connection.getresponse().read(1)
    connection.close()


def check_clients(lane: Lane, clients: int) -> list[str]:
    """Each client's reply must be that of a quiet lane that held nothing."""
    bodies = []
    for client in range(clients):
        content = f"The marker is {client:04d}-{made_up(random.Random(client), 40)}. Repeat the marker."
        bodies.append({"messages": [{"role": "user", "content": content}], "temperature": 0, "max_tokens": 24,
                       "logprobs": True, "top_logprobs": 1})
    quiet = []
    for body in bodies:
        lane.forget()  # or all could go on from the rows of whoever came first, and agree with each other
        quiet.append(essence(lane.post("/v1/chat/completions", body)))
    failures: list[str] = []

    def work(client: int) -> None:
        if client % 4 == 3:
            hang_up(lane, bodies[client])
            return
        try:
            for turn in range(2):
                reply = lane.post("/v1/chat/completions", bodies[client])
                if essence(reply) != quiet[client]:
                    failures.append(f"client {client}, turn {turn}: another reply than on a quiet lane")
        except (LaneError, OSError) as error:
            failures.append(f"client {client}: {error}")

    threads = [threading.Thread(target=work, args=(client,)) for client in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if essence(lane.post("/v1/chat/completions", bodies[0])) != quiet[0]:
        failures.append("afterwards the lane replies differently")
    print(f"{clients} clients at once, {clients // 4} of them hung up: {len(failures)} failures")
    return failures


def main() -> None:
    options = parser(__doc__.split("\n")[0])
    options.add_argument("--pairs", type=int, default=8)
    options.add_argument("--clients", type=int, default=16)
    options.add_argument("--no-reuse", action="store_true", help="the lane is an engine without the cache")
    options = options.parse_args()
    with Lane.open(options) as lane:
        failures = check_pairs(lane, options.pairs, not options.no_reuse)
        failures += check_clients(lane, options.clients)
    finish(failures)


if __name__ == "__main__":
    main()
