#include "lane/page.h"

namespace engine::lane {

const std::string_view kPage = R"page(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>engine: a lane</title>
<link rel="icon" href="data:,">
<style>
:root {
  color-scheme: light dark;
  --back: #f6f6f3; --card: #ffffff; --text: #1d1f21; --soft: #5a6068; --line: #d9dbd6;
  --mark: #14599d; --on-mark: #ffffff; --good: #1f6b3a; --bad: #a3261f; --fill: #dfeaf5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #15171a; --card: #1d2024; --text: #e4e6e8; --soft: #a3aab2; --line: #343a41;
    --mark: #7db4ea; --on-mark: #10151a; --good: #7ec797; --bad: #f0938c; --fill: #233445;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.45 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: .3rem 1rem; align-items: baseline; padding: 1rem 1.25rem .25rem; }
h1 { font-size: 1.25rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 0 0 .6rem; }
main { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 1rem; padding: .75rem 1.25rem 1.5rem;
       align-items: start; max-width: 100rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; min-width: 0; }
.left { display: grid; gap: 1rem; min-width: 0; }
#state { font-weight: 600; color: var(--good); }
#state.bad { color: var(--bad); }
.soft, th, dt { color: var(--soft); }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .6rem 1rem; margin: 0; }
dd { margin: 0; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
th { font-weight: 500; text-align: left; }
th, td { padding: .3rem .9rem .3rem 0; vertical-align: top; border-top: 1px solid var(--line); }
thead th { border-top: 0; white-space: nowrap; }
.n { text-align: right; white-space: nowrap; }
.bar { height: .45rem; min-width: 5rem; background: var(--line); border-radius: 1rem; margin-top: .45rem; }
.bar i { display: block; height: 100%; background: var(--mark); border-radius: 1rem; }
#talk { display: flex; flex-direction: column; gap: .5rem; min-height: 12rem; max-height: 60vh; overflow-y: auto;
        margin-bottom: .75rem; }
#talk > div { padding: .5rem .7rem; border-radius: .5rem; border: 1px solid var(--line); white-space: pre-wrap;
              overflow-wrap: anywhere; }
#talk .user { background: var(--fill); align-self: flex-end; max-width: 90%; }
#talk .thoughts, #talk .told { color: var(--soft); font-size: .85rem; }
#talk .told { border: 0; padding: 0 .2rem; }
#talk .wrong { color: var(--bad); }
textarea, input, button { font: inherit; color: inherit; border: 1px solid var(--soft); border-radius: .4rem;
                          padding: .45rem .6rem; background: var(--back); }
textarea { width: 100%; resize: vertical; min-height: 4rem; display: block; }
button { cursor: pointer; }
#send { background: var(--mark); color: var(--on-mark); border-color: var(--mark); }
button:disabled { opacity: .55; cursor: default; }
:focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; }
.row { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: .5rem; align-items: center; }
.row label { display: flex; gap: .4rem; align-items: center; }
.row input { width: 6rem; }
#door input { width: 16rem; max-width: 100%; }
[hidden] { display: none !important; }
@media (max-width: 60rem) {
  main { grid-template-columns: minmax(0, 1fr); padding: .75rem; }
  header { padding: .75rem .75rem 0; }
  .left { display: contents; }
  .talks { order: 1; }
  .tables { order: 2; }
  #requests tr { display: flex; flex-wrap: wrap; gap: 0 .8rem; border-top: 1px solid var(--line); padding: .35rem 0; }
  #requests td { border: 0; padding: 0; white-space: normal; }
  #requests td[data-name]::before { content: attr(data-name) " "; color: var(--soft); }
  .requests thead { display: none; }
}
</style>
</head>
<body>
<header>
  <h1 id="name">engine</h1>
  <span id="state" role="status">asking</span>
  <span class="soft" id="detail"></span>
</header>
<main>
<div class="left">
  <section id="door" hidden>
    <h2>This lane asks for a key</h2>
    <form class="row"><input id="key" type="password" autocomplete="off" aria-label="API key">
      <button>Use it</button></form>
  </section>
  <section><h2>Lane</h2><dl id="facts"></dl></section>
  <section class="tables"><h2>Conversations</h2>
    <div class="scroll"><table><thead><tr><th></th><th class="n">turns</th><th class="n">tokens</th>
      <th class="n">rows kept</th><th></th><th class="n">last turn</th></tr></thead>
      <tbody id="conversations"></tbody></table></div>
    <p class="soft" id="alone">None yet.</p>
  </section>
  <section class="tables"><h2>Last requests</h2>
    <div class="scroll"><table class="requests"><thead><tr><th>at</th><th>endpoint</th><th>outcome</th><th class="n">prompt</th>
      <th class="n">kept</th><th>the reuse ended where</th><th class="n">reply</th><th class="n">first token</th>
      <th class="n">in all</th></tr></thead><tbody id="requests"></tbody></table></div>
  </section>
</div>
<section class="talks">
  <h2>Chat</h2>
  <div id="talk" aria-live="polite"></div>
  <form id="chat">
    <textarea id="say" aria-label="Message" placeholder="A message; Enter sends it"></textarea>
    <div class="row"><button id="send">Send</button><button id="stop" type="button" disabled>Stop</button>
      <button id="anew" type="button">New conversation</button>
      <label>temperature <input id="heat" type="number" min="0" max="100" step="any" value="0"></label>
      <label>tokens <input id="most" type="number" min="1" step="1" value="512"></label></div>
  </form>
</section>
</main>
<script>
"use strict";
const at = (id) => document.getElementById(id);
const count = (n) => n.toLocaleString("en");
const head = () => sessionStorage.lane_key ? { Authorization: "Bearer " + sessionStorage.lane_key } : {};

function made(kind, text, name) {
  const element = document.createElement(kind);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
}

function seconds(s) {
  if (s === undefined || s < 0) return "";
  return s < 1 ? Math.round(s * 1000) + " ms" : s.toFixed(1) + " s";
}

function ended(line) {
  const s = line.stats, by = s && s.reuse_bound;
  if (!by) return "";
  const off = line.rounded_off ? "; " + count(line.rounded_off) + " rows rounded off to the grid" : "";
  if (by === "empty") return "nothing was kept before";
  if (by === "canonical_end") return "the prompt before ended: decode wrote what follows" + off;
  if (by === "last_token") return "the prompt's last token is always computed" + off;
  const why = { messages: ", as its messages do", template: ", as the template renders them otherwise",
                reply: ", as the reply is not rendered as it was written" }[line.rendering && line.rendering.left_by] || "";
  const here = "token " + count(s.common_prefix) + " differs" + why;
  return by === "grid" ? "no cell of the grid is full" + off : here + off;
}

function show(state) {
  at("name").textContent = state.model;
  document.title = state.model + ": a lane";
  const run = state.running;
  at("state").className = "";
  at("state").textContent = !run ? "idle" : run.generated ? "generating" : "reading a prompt";
  const waits = state.waiting ? ", " + count(state.waiting) + " waiting" : "";
  at("detail").textContent = (!run ? "" : run.generated ? count(run.generated) + " tokens so far"
    : count(run.prefilled) + " of " + count(run.prompt) + " tokens") + waits;
  const facts = [["context", count(state.context) + " tokens"], ["grid", count(state.grid) + " rows"],
    ["prefix cache", state.cache ? "on" : "off"], ["requests", count(state.totals.requests)],
    ["prompt tokens", count(state.totals.prompt)], ["of these kept", state.totals.prompt
      ? Math.round(100 * state.totals.kept / state.totals.prompt) + " %" : "none"],
    ["generated", count(state.totals.generated)]];
  at("facts").replaceChildren(...facts.map(([name, value]) => {
    const pair = made("div");
    pair.append(made("dt", name), made("dd", value));
    return pair;
  }));
  at("alone").hidden = state.conversations.length > 0;
  at("conversations").replaceChildren(...state.conversations.map((one, i) => {
    const row = made("tr"), bar = made("div", undefined, "bar"), fill = made("i"), cell = made("td");
    fill.style.width = 100 * one.kept / Math.max(1, one.tokens) + "%";
    bar.append(fill);
    if (i === 0) cell.append(bar);
    row.append(made("td", "no. " + one.number + (i === 0 && one.kept ? ", in the buffer" : "")),
      made("td", count(one.turns), "n"), made("td", count(one.tokens), "n"), made("td", count(one.kept), "n"),
      cell, made("td", clock(one.at), "n"));
    return row;
  }));
  at("requests").replaceChildren(...state.requests.map((line) => {
    const row = made("tr"), s = line.stats || {};
    const named = (name, text, kind) => {
      const cell = made("td", text, kind);
      if (text) cell.dataset.name = name;
      return cell;
    };
    const number = (name, n) => named(name, n === undefined ? "" : count(n), "n");
    row.append(made("td", clock(line.at)), made("td", line.endpoint),
      made("td", line.status === 200 ? line.outcome : line.status + " " + line.outcome),
      number("prompt", s.prompt_tokens), number("kept", s.cached), named("reuse ended:", ended(line)),
      number("reply", s.generated_tokens), named("first token", seconds(line.first_token_s), "n"),
      named("in all", seconds(line.total_s), "n"));
    return row;
  }));
}

function clock(at) {
  return new Date(1000 * at).toLocaleTimeString("en-GB");
}

function unwell(text) {
  at("state").className = "bad";
  at("state").textContent = text;
  at("detail").textContent = "";
}

async function look() {
  if (document.visibilityState === "hidden") return;
  try {
    const reply = await fetch("state", { headers: head() });
    at("door").hidden = reply.status !== 401;
    if (reply.ok) show(await reply.json());
    else unwell(reply.status === 401 ? "needs a key" : reply.status === 503 ? "loading the model" : "error " + reply.status);
  } catch (error) {
    unwell("not reached");
  }
}

let messages = [], asked = null;

function tell(kind, text) {
  const element = made("div", text, kind);
  at("talk").append(element);
  at("talk").scrollTop = at("talk").scrollHeight;
  return element;
}

async function* eventsOf(reply) {
  const reader = reply.body.getReader(), decoder = new TextDecoder();
  for (let rest = "";;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += decoder.decode(value, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const line of lines)
      if (line.startsWith("data: {")) yield JSON.parse(line.slice(6));
  }
}

async function ask() {
  asked = new AbortController();
  at("send").disabled = true;
  at("stop").disabled = false;
  const mine = messages;
  let thoughts = null, said = null, text = "", usage = null;
  try {
    const reply = await fetch("v1/chat/completions", { method: "POST", signal: asked.signal,
      headers: { "Content-Type": "application/json", ...head() },
      body: JSON.stringify({ messages: mine, stream: true, stream_options: { include_usage: true },
        temperature: Number(at("heat").value), max_tokens: Math.max(1, Number(at("most").value) | 0) }) });
    if (!reply.ok) throw new Error((await reply.json()).error.message);
    for await (const event of eventsOf(reply)) {
      if (event.error) throw new Error(event.error.message);
      usage = event.usage || usage;
      const delta = event.choices.length ? event.choices[0].delta : {};
      if (delta.reasoning_content) (thoughts = thoughts || tell("thoughts", "")).textContent += delta.reasoning_content;
      if (delta.content) (said = said || tell("assistant", "")).textContent = text += delta.content;
      at("talk").scrollTop = at("talk").scrollHeight;
    }
    if (!said) tell("assistant", "");
  } catch (error) {
    tell("wrong", error.name === "AbortError" ? "Stopped." : error.message);
  }
  if (text) mine.push({ role: "assistant", content: text });
  else mine.pop();
  if (usage)
    tell("told", count(usage.prompt_tokens) + " tokens of prompt, " +
      count(usage.prompt_tokens_details.cached_tokens) + " kept; " + count(usage.completion_tokens) + " of reply");
  asked = null;
  at("send").disabled = false;
  at("stop").disabled = true;
  look();
}

at("chat").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = at("say").value.trim();
  if (!text || asked) return;
  at("say").value = "";
  messages.push({ role: "user", content: text });
  tell("user", text);
  ask();
});
at("say").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    at("chat").requestSubmit();
  }
});
at("stop").addEventListener("click", () => asked && asked.abort());
at("anew").addEventListener("click", () => {
  if (asked) asked.abort();
  messages = [];
  at("talk").replaceChildren();
});
at("door").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.lane_key = at("key").value;
  look();
});
document.addEventListener("visibilitychange", look);
setInterval(look, 1000);
look();
</script>
</body>
</html>
)page";

}  // namespace engine::lane
