#include "model/tokenizer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "model/byte_alphabet.h"
#include "model/json_file.h"

namespace engine::model {
namespace {

constexpr std::uint64_t kMaxToken = (1U << 22U) - 1;
constexpr std::size_t kMaxTokenBytes = 65536;
constexpr std::size_t kMaxSplits = 16;

// GPT-2's, which "ByteLevel" with use_regex means.
constexpr std::string_view kByteLevelRegex =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Token ids by the text that the file writes for them.
using Ids = std::unordered_map<std::string, Token>;

void require_type(const JsonNode& node, std::string_view expected) {
  const JsonNode type = node.at("type");
  if (type.string() != expected) type.fail_expected(fmt::format("\"{}\"", expected));
}

void require_false(const JsonNode& node, std::string_view key) {
  const auto flag = node.find(key);
  if (flag && flag->boolean()) flag->fail_expected("false: true is not supported");
}

void require_empty(const JsonNode& node, std::string_view key) {
  const auto text = node.find(key);
  if (text && !text->string().empty()) text->fail_expected("null: not supported");
}

Ids read_vocabulary(const JsonNode& node) {
  node.require_object();
  Ids ids;
  std::set<Token> seen;
  for (const auto& [text, id] : node.value().items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > kMaxToken) {
      node.at(text).fail_expected(fmt::format("an id from 0 to {}", kMaxToken));
    }
    const auto token = id.get<Token>();
    if (text.empty() || text.size() > kMaxTokenBytes) {
      node.fail(fmt::format("token {} has {} bytes; expected 1 to {}", token, text.size(),
                            kMaxTokenBytes));
    }
    if (!seen.insert(token).second) node.at(text).fail(fmt::format("id {} is taken", token));
    ids.emplace(text, token);
  }
  if (ids.empty()) node.fail("no tokens");
  return ids;
}

AddedToken read_added_token(const JsonNode& node, const Ids& ids) {
  for (const auto* key : {"lstrip", "rstrip", "single_word"})
    require_false(node, key);
  AddedToken added{static_cast<Token>(node.at("id").integer(0, kMaxToken)),
                   node.at("content").string(), false};
  if (const auto special = node.find("special")) added.special = special->boolean();
  if (added.content.empty() || added.content.size() > kMaxTokenBytes) {
    node.at("content").fail_expected(fmt::format("1 to {} bytes", kMaxTokenBytes));
  }
  const auto in_vocabulary = ids.find(added.content);
  if (in_vocabulary != ids.end() && in_vocabulary->second != added.token) {
    node.at("id").fail_expected(
        fmt::format("{}, which the vocabulary gives \"{}\"", in_vocabulary->second, added.content));
  }
  return added;
}

std::vector<AddedToken> read_added_tokens(const JsonNode& root, const Ids& ids) {
  std::vector<AddedToken> tokens;
  const auto list = root.find("added_tokens");
  if (!list) return tokens;
  std::set<Token> seen;
  std::set<std::string> contents;
  for (std::size_t i = 0, count = list->require_array(); i < count; ++i) {
    const JsonNode node = list->element(i);
    AddedToken added = read_added_token(node, ids);
    if (!seen.insert(added.token).second || !contents.insert(added.content).second) {
      node.fail(fmt::format("a second \"{}\" or a second id {}", added.content, added.token));
    }
    tokens.push_back(std::move(added));
  }
  return tokens;
}

// By id, without the added ones; ids that only added tokens have are empty.
std::vector<std::string> vocabulary_bytes(const JsonNode& node, const Ids& ids,
                                          const std::vector<AddedToken>& added) {
  std::vector<std::string> bytes;
  const auto reach = [&](Token token) {
    bytes.resize(std::max(bytes.size(), static_cast<std::size_t>(token) + 1));
  };
  std::set<std::string_view> added_texts;
  std::set<Token> added_ids;
  for (const AddedToken& token : added) {
    added_texts.insert(token.content);
    added_ids.insert(token.token);
    reach(token.token);
  }
  for (const auto& [text, token] : ids) {
    if (added_texts.contains(text)) continue;
    if (added_ids.contains(token))
      node.at(text).fail(fmt::format("id {} is an added token's", token));
    auto decoded = from_alphabet(text);
    if (!decoded) node.at(text).fail("holds a character that stands for no byte");
    reach(token);
    bytes[static_cast<std::size_t>(token)] = std::move(*decoded);
  }
  return bytes;
}

// "left right", or ["left", "right"].
std::pair<std::string, std::string> read_pair(const JsonNode& node) {
  if (node.value().is_array()) {
    if (node.value().size() != 2) node.fail_expected("two tokens");
    return {node.element(0).string(), node.element(1).string()};
  }
  const std::string text = node.string();
  const std::size_t space = text.find(' ');
  if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
    node.fail_expected("two tokens with one space between");
  }
  return {text.substr(0, space), text.substr(space + 1)};
}

std::vector<MergeRule> read_merges(const JsonNode& node, const Ids& ids) {
  std::vector<MergeRule> merges;
  for (std::size_t i = 0, count = node.require_array(); i < count; ++i) {
    const JsonNode entry = node.element(i);
    const auto [left, right] = read_pair(entry);
    const auto id_of = [&](const std::string& text) {
      const auto found = ids.find(text);
      if (found == ids.end()) entry.fail(fmt::format("\"{}\" is not in the vocabulary", text));
      return found->second;
    };
    merges.push_back({id_of(left), id_of(right), id_of(left + right)});
  }
  return merges;
}

void check_model(const JsonNode& node) {
  require_type(node, "BPE");
  require_false(node, "byte_fallback");
  require_empty(node, "continuing_subword_prefix");
  require_empty(node, "end_of_word_suffix");
  if (const auto dropout = node.find("dropout"); dropout && dropout->number() != 0) {
    dropout->fail_expected("null: not supported");
  }
}

bool read_normalizer(const JsonNode& root) {
  const auto node = root.find("normalizer");
  if (!node) return false;
  if (node->at("type").string() == "Sequence" && node->at("normalizers").require_array() == 0) {
    return false;
  }
  require_type(*node, "NFC");
  return true;
}

SplitRule read_split(const JsonNode& node) {
  const JsonNode behavior = node.at("behavior");
  if (behavior.string() != "Isolated") behavior.fail_expected("\"Isolated\"");
  require_false(node, "invert");
  const JsonNode pattern = node.at("pattern");
  const auto regex = pattern.find("Regex");
  return {regex ? regex->string() : pattern.at("String").string(), regex.has_value()};
}

// One step; true if it is ByteLevel, which must be the last.
bool read_step(const JsonNode& node, std::vector<SplitRule>& splits) {
  const std::string type = node.at("type").string();
  if (type == "Split") {
    splits.push_back(read_split(node));
    return false;
  }
  if (type != "ByteLevel") node.at("type").fail_expected("\"Split\" or \"ByteLevel\"");
  require_false(node, "add_prefix_space");
  const auto use_regex = node.find("use_regex");
  if (!use_regex || use_regex->boolean()) splits.push_back({std::string(kByteLevelRegex), true});
  return true;
}

std::vector<SplitRule> read_pre_tokenizer(const JsonNode& node) {
  std::vector<SplitRule> splits;
  if (node.at("type").string() != "Sequence") {
    if (!read_step(node, splits)) node.fail_expected("\"ByteLevel\", or a sequence that ends so");
    return splits;
  }
  const JsonNode steps = node.at("pretokenizers");
  const std::size_t count = steps.require_array();
  if (count == 0 || count > kMaxSplits)
    steps.fail_expected(fmt::format("1 to {} steps", kMaxSplits));
  for (std::size_t i = 0; i < count; ++i) {
    const bool byte_level = read_step(steps.element(i), splits);
    if (byte_level != (i + 1 == count))
      steps.fail("expected ByteLevel as the last step, and only there");
  }
  return splits;
}

}  // namespace

TokenizerFile TokenizerFile::parse(std::string_view json, const std::filesystem::path& file) {
  const nlohmann::json parsed = parse_json(json, file);
  const JsonNode root(parsed, file);
  const JsonNode model = root.at("model");
  check_model(model);
  if (const auto decoder = root.find("decoder")) require_type(*decoder, "ByteLevel");
  const JsonNode vocabulary = model.at("vocab");
  const Ids ids = read_vocabulary(vocabulary);
  TokenizerFile result;
  result.added = read_added_tokens(root, ids);
  result.vocabulary = vocabulary_bytes(vocabulary, ids, result.added);
  result.merges = read_merges(model.at("merges"), ids);
  result.splits = read_pre_tokenizer(root.at("pre_tokenizer"));
  result.nfc = read_normalizer(root);
  const auto ignore_merges = model.find("ignore_merges");
  result.ignore_merges = ignore_merges && ignore_merges->boolean();
  return result;
}

}  // namespace engine::model
