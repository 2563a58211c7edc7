#include "model/pre_tokenizer.h"

#include "model/normalizer.h"
#include "model/utf8.h"

namespace engine::model {
namespace {

// GPT-2's.
constexpr std::string_view kByteLevelRegex =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+|)"
    R"( ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+)";

constexpr std::string_view kWordsRegex =
    R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+|)"
    R"([^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}\p{White_Space}]+)";

}  // namespace

CutText::CutText(std::string content, bool is_start)
    : text(std::move(content)), at_start(is_start) {
  std::size_t begin = 0;
  for (bool valid = true; begin < text.size(); valid = !valid) {
    const std::size_t length = utf8_stretch(std::string_view(text).substr(begin), valid);
    if (length > 0) pieces.push_back({{begin, begin + length}, valid});
    begin += length;
  }
}

PreTokenizer PreTokenizer::read(const std::optional<JsonNode>& node) {
  PreTokenizer result;
  if (node) result.add(*node);
  return result;
}

void PreTokenizer::add(const JsonNode& node) {
  const JsonNode type = node.at("type");
  const std::string name = type.string();
  if (name == "Sequence") {
    const JsonNode list = node.at("pretokenizers");
    for (std::size_t i = 0, count = list.require_array(); i < count; ++i)
      add(list.element(i));
    return;
  }
  if (byte_level_) node.fail("a step after ByteLevel is not supported");
  if (name == "ByteLevel") {
    add_byte_level(node);
  } else if (name == "Metaspace") {
    add_metaspace(node);
  } else if (name == "Split") {
    steps_.emplace_back(Splitter(Pattern::read(node.at("pattern")),
                                 read_split_behavior(node.at("behavior")), node.flag("invert")));
  } else if (name == "Digits") {
    const bool each = node.flag("individual_digits");
    steps_.emplace_back(
        Splitter(Pattern(is_number), each ? SplitBehavior::kIsolated : SplitBehavior::kContiguous));
  } else if (name == "Punctuation") {
    const auto behavior = node.find("behavior");
    steps_.emplace_back(Splitter(Pattern(is_punctuation), behavior ? read_split_behavior(*behavior)
                                                                   : SplitBehavior::kIsolated));
  } else if (name == "Whitespace") {
    steps_.emplace_back(Splitter(Pattern(Regex(kWordsRegex, node.file(), node.place())),
                                 SplitBehavior::kRemoved, true));
  } else if (name == "WhitespaceSplit") {
    steps_.emplace_back(Splitter(Pattern(is_white_space), SplitBehavior::kRemoved));
  } else {
    type.fail_expected(
        "\"ByteLevel\", \"Metaspace\", \"Split\", \"Digits\", \"Punctuation\", \"Whitespace\", "
        "\"WhitespaceSplit\" or \"Sequence\"");
  }
}

void PreTokenizer::add_byte_level(const JsonNode& node) {
  if (node.flag("add_prefix_space", true)) steps_.emplace_back(Mark{" ", Mark::Where::kEverywhere});
  if (node.flag("use_regex", true)) {
    steps_.emplace_back(Splitter(Pattern(Regex(kByteLevelRegex, node.file(), node.place())),
                                 SplitBehavior::kIsolated));
  }
  byte_level_ = true;
}

void PreTokenizer::add_metaspace(const JsonNode& node) {
  const std::string mark = node.at("replacement").string();
  if (mark.empty() || utf8_step(mark).length != mark.size())
    node.at("replacement").fail_expected("one character");
  const auto scheme = node.find("prepend_scheme");
  const std::string name = scheme ? scheme->string() : "always";
  Mark::Where where = Mark::Where::kEverywhere;
  if (name == "first") where = Mark::Where::kAtStart;
  if (name == "never" || !node.flag("add_prefix_space", true)) where = Mark::Where::kNowhere;
  if (name != "always" && name != "first" && name != "never")
    scheme->fail_expected("\"always\", \"first\" or \"never\"");
  steps_.emplace_back(Mark{mark, where});
  if (node.flag("split", true))
    steps_.emplace_back(Splitter(Pattern(mark), SplitBehavior::kMergedWithNext));
}

void PreTokenizer::cut(CutText& text) const {
  for (const auto& step : steps_)
    std::visit([&](const auto& known) { run(known, text); }, step);
}

void PreTokenizer::run(const Splitter& splitter, CutText& text) {
  std::vector<CutText::Piece> result;
  for (std::size_t i = 0; i < text.pieces.size(); ++i) {
    const auto [range, characters] = text.pieces[i];
    if (!characters) {
      result.push_back(text.pieces[i]);
      continue;
    }
    for (const Range cut : splitter.split(text.piece(i)))
      result.push_back({{range.begin + cut.begin, range.begin + cut.end}, true});
  }
  text.pieces = std::move(result);
}

void PreTokenizer::run(const Mark& mark, CutText& text) {
  static const Pattern blank(std::string(" "));
  std::string result;
  for (std::size_t i = 0; i < text.pieces.size(); ++i) {
    auto& [range, characters] = text.pieces[i];
    const bool first = text.at_start && range.begin == 0;
    const std::size_t begin = result.size();
    const std::string marked = replace_all(text.piece(i), blank, mark.mark);
    const bool wants =
        mark.where == Mark::Where::kEverywhere || (mark.where == Mark::Where::kAtStart && first);
    if (characters && wants && !marked.starts_with(mark.mark)) result += mark.mark;
    result += marked;
    range = {begin, result.size()};
  }
  text.text = std::move(result);
}

}  // namespace engine::model
