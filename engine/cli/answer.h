// One request, from the engine to the terminal: what `run` and `chat` share.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "cli/cli.h"
#include "model/model.h"
#include "runtime/engine.h"

namespace engine::cli {

// Runs the request. Its text streams to `streams.out` as it is generated, and its statistics follow
// on `streams.err`; with `json` one JSON object follows on `streams.out` instead. Of `callbacks`,
// on_prefill and on_token are taken.
runtime::Reply answer(runtime::Engine& engine, const model::Model& model,
                      const runtime::Request& request, bool json, const Streams& streams,
                      runtime::Callbacks callbacks = {});

// The reply's text, whole.
std::string reply_text(const model::Model& model, const runtime::Reply& reply);

// One line {"error": text}.
void print_error(std::ostream& out, std::string_view text);

}  // namespace engine::cli
