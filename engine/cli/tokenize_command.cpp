#include <fmt/format.h>

#include <istream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/commands.h"
#include "cli/session.h"
#include "lane/json_field.h"
#include "model/stream_decoder.h"
#include "model/tokenizer.h"
#include "model/utf8.h"

namespace engine::cli {
namespace {

using lane::JsonField;
using model::Token;
using model::Tokenizer;
using nlohmann::ordered_json;

bool flag(const JsonField& request, std::string_view key, bool otherwise) {
  const auto found = request.find(key);
  return found ? found->boolean() : otherwise;
}

ordered_json encode(const Tokenizer& tokenizer, const JsonField& request) {
  const std::string text = request.at("text").string();
  const bool special = flag(request, "special", true);
  if (flag(request, "prompt", false)) {
    if (!special) request.at("special").fail("false makes no prompt");
    return {{"ids", tokenizer.encode_prompt(text)}};
  }
  const auto kind = special ? model::SpecialText::kIsToken : model::SpecialText::kIsText;
  return {{"ids", tokenizer.encode(text, kind)}};
}

std::vector<Token> read_ids(const Tokenizer& tokenizer, const JsonField& list) {
  std::vector<Token> ids;
  const auto last = static_cast<std::int64_t>(tokenizer.size()) - 1;
  for (const JsonField& id : list.elements())
    ids.push_back(static_cast<Token>(id.integer(0, last)));
  return ids;
}

ordered_json decode(const Tokenizer& tokenizer, const JsonField& request) {
  std::vector<Token> ids = read_ids(tokenizer, request.at("ids"));
  if (!flag(request, "special", true))
    std::erase_if(ids, [&](Token id) { return tokenizer.is_special(id); });
  ordered_json answer{{"text", model::replace_invalid(tokenizer.decode(ids))}};
  if (!flag(request, "stream", false)) return answer;
  model::StreamDecoder decoder(tokenizer, ids);
  ordered_json parts = ordered_json::array();
  for (const Token id : ids)
    parts.push_back(decoder.push(id));
  parts.push_back(decoder.finish());
  answer["parts"] = std::move(parts);
  return answer;
}

ordered_json answer_line(const Tokenizer& tokenizer, const std::string& line, std::size_t number) {
  try {
    const ordered_json parsed = lane::parse_body(line);
    const JsonField request(parsed);
    return request.find("ids") ? decode(tokenizer, request) : encode(tokenizer, request);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("line {}: {}", number, error.what()));
  }
}

}  // namespace

int tokenize_command(const TokenizeSettings& settings, const Streams& streams) {
  const std::filesystem::path found = find_model(settings.model);
  const Tokenizer tokenizer =
      Tokenizer::load(std::filesystem::is_directory(found) ? found / "tokenizer.json" : found);
  for (const std::string& text : settings.texts)
    streams.out << ordered_json{{"ids", tokenizer.encode_prompt(text)}}.dump() << "\n";
  if (!settings.texts.empty()) return kOk;
  std::string line;
  for (std::size_t number = 1; std::getline(streams.in, line); ++number)
    streams.out << answer_line(tokenizer, line, number).dump() << "\n";
  return kOk;
}

}  // namespace engine::cli
