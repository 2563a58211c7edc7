#include "model/tokenizer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace engine::model {
namespace {

constexpr std::uint64_t kMaxToken = (1U << 22U) - 1;
constexpr std::size_t kMaxTokenBytes = 65536;

void require_size(std::string_view text, const JsonNode& node) {
  if (text.empty() || text.size() > kMaxTokenBytes)
    node.fail_expected(fmt::format("1 to {} bytes", kMaxTokenBytes));
}

std::unordered_map<std::string, Token> read_vocabulary(const JsonNode& node) {
  node.require_object();
  std::unordered_map<std::string, Token> ids;
  std::vector<bool> seen;
  for (const auto& [text, id] : node.value().items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > kMaxToken) {
      node.at(text).fail_expected(fmt::format("an id from 0 to {}", kMaxToken));
    }
    const auto token = id.get<Token>();
    if (text.empty() || text.size() > kMaxTokenBytes) {
      node.fail(fmt::format("token {} has {} bytes; expected 1 to {}", token, text.size(),
                            kMaxTokenBytes));
    }
    const auto index = static_cast<std::size_t>(token);
    if (seen.size() <= index) seen.resize(index + 1);
    if (seen[index]) node.at(text).fail(fmt::format("id {} is taken", token));
    seen[index] = true;
    ids.emplace(text, token);
  }
  if (ids.empty()) node.fail("no tokens");
  return ids;
}

AddedToken read_added_token(const JsonNode& node) {
  AddedToken added{static_cast<Token>(node.at("id").integer(0, kMaxToken)),
                   node.at("content").string()};
  require_size(added.content, node.at("content"));
  added.special = node.flag("special");
  added.left_strip = node.flag("lstrip");
  added.right_strip = node.flag("rstrip");
  added.single_word = node.flag("single_word");
  added.normalized = node.flag("normalized", !added.special);
  return added;
}

}  // namespace

TokenizerFile TokenizerFile::read(const JsonNode& root) {
  TokenizerFile file;
  const JsonNode vocabulary = root.at("model").at("vocab");
  file.ids = read_vocabulary(vocabulary);
  std::size_t size = 0;
  for (const auto& [text, token] : file.ids)
    size = std::max(size, static_cast<std::size_t>(token) + 1);
  file.special_.resize(size);
  const auto list = root.find("added_tokens");
  if (!list) return file;
  std::unordered_set<std::string> contents;
  // Hugging Face's library numbers those that are new by their order, whatever the file says.
  auto next = static_cast<Token>(file.ids.size());
  for (std::size_t i = 0, count = list->require_array(); i < count; ++i) {
    const JsonNode node = list->element(i);
    AddedToken added = read_added_token(node);
    if (!contents.insert(added.content).second)
      node.fail(fmt::format("a second \"{}\"", added.content));
    const auto found = file.ids.find(added.content);
    const Token id = found != file.ids.end() ? found->second : next++;
    if (id != added.token) {
      node.at("id").fail_expected(
          fmt::format("{}, which is \"{}\" in Hugging Face's library", id, added.content));
    }
    const auto index = static_cast<std::size_t>(id);
    if (index >= file.special_.size()) file.special_.resize(index + 1);
    file.special_[index] = added.special;
    file.added.push_back(std::move(added));
  }
  return file;
}

Token TokenizerFile::id_of(const std::string& text, const JsonNode& place) const {
  const auto found = ids.find(text);
  if (found == ids.end()) place.fail(fmt::format("\"{}\" is not in the vocabulary", text));
  return found->second;
}

}  // namespace engine::model
