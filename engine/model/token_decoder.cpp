#include "model/token_decoder.h"

#include <charconv>

#include "model/byte_alphabet.h"
#include "model/normalizer.h"
#include "model/utf8.h"

namespace engine::model {
namespace {

constexpr std::size_t kMostStripped = 1024;

// "<0xA5>"
std::optional<char> byte_of(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
  unsigned char byte = 0;
  const auto [end, error] = std::from_chars(text.data() + 3, text.data() + 5, byte, 16);
  if (error != std::errc() || end != text.data() + 5) return std::nullopt;
  return static_cast<char>(byte);
}

bool is_character(std::string_view text) {
  return !text.empty() && utf8_step(text).length == text.size();
}

}  // namespace

// The steps so far.
struct TokenDecoder::Order {
  bool byte_level = false, metaspace = false, bytes = false, fused = false, stripped = false;
};

TokenDecoder::TokenDecoder(const JsonNode& node, Texts texts)
    : bytes_(std::move(texts.vocabulary)) {
  Order order;
  add(node, order, texts.added);
}

void TokenDecoder::add(const JsonNode& node, Order& order, const std::vector<bool>& added) {
  const JsonNode type = node.at("type");
  const std::string name = type.string();
  if (name == "Sequence") {
    const JsonNode list = node.at("decoders");
    for (std::size_t i = 0, count = list.require_array(); i < count; ++i)
      add(list.element(i), order, added);
    return;
  }
  if (name == "Fuse") {
    order.fused = true;
    return;
  }
  if (order.byte_level || order.metaspace || order.stripped)
    node.fail("a step after this decoder's steps so far is not supported");
  if (name == "ByteLevel") {
    if (order.bytes || order.fused) node.fail("ByteLevel is supported as the first step only");
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      if (added[i]) continue;
      if (auto bytes = from_alphabet(bytes_[i])) bytes_[i] = std::move(*bytes);
    }
    order.byte_level = true;
  } else if (name == "ByteFallback") {
    for (std::string& text : bytes_) {
      if (const auto byte = byte_of(text)) text.assign(1, *byte);
    }
    order.bytes = true;
  } else if (name == "Replace") {
    add_replace(node, order);
  } else if (name == "Metaspace") {
    if (order.bytes || order.fused) node.fail("Metaspace is supported as the first step only");
    add_metaspace(node);
    order.metaspace = true;
  } else if (name == "Strip") {
    add_strip(node, order);
    order.stripped = true;
  } else {
    type.fail_expected(
        "\"ByteLevel\", \"ByteFallback\", \"Replace\", \"Metaspace\", \"Fuse\", \"Strip\" or "
        "\"Sequence\"");
  }
}

void TokenDecoder::add_replace(const JsonNode& node, const Order& order) {
  const Pattern pattern = Pattern::read(node.at("pattern"));
  const std::string content = node.at("content").string();
  if (order.bytes) node.fail("Replace after ByteFallback is not supported");
  if (order.fused && (pattern.literal() == nullptr || !is_character(*pattern.literal())))
    node.fail("Replace of more than a character after Fuse is not supported");
  for (std::string& text : bytes_)
    text = replace_all(text, pattern, content);
}

void TokenDecoder::add_metaspace(const JsonNode& node) {
  const std::string mark = node.at("replacement").string();
  if (!is_character(mark)) node.at("replacement").fail_expected("one character");
  const auto scheme = node.find("prepend_scheme");
  const auto prefix = node.find("add_prefix_space");
  const bool prepended = (!scheme || scheme->string() != "never") && (!prefix || prefix->boolean());
  const Pattern pattern(mark);
  if (prepended) {
    for (const std::string& text : bytes_)
      first_bytes_.push_back(replace_all(text, pattern, ""));
  }
  for (std::string& text : bytes_)
    text = replace_all(text, pattern, " ");
}

void TokenDecoder::add_strip(const JsonNode& node, const Order& order) {
  strip_ = node.at("content").string();
  if (!is_character(strip_)) node.at("content").fail_expected("one character");
  most_stripped_ = node.at("start").integer(0, kMostStripped);
  if (node.at("stop").integer(0, kMostStripped) != 0)
    node.at("stop").fail_expected("0: Strip at the end is not supported");
  if (!order.fused) node.fail("Strip is supported after Fuse only");
}

std::string TokenDecoder::next(Token token, Progress& progress) const {
  if (bytes(token).empty()) return {};
  const bool first = progress.first && !first_bytes_.empty();
  progress.first = false;
  std::string text = (first ? first_bytes_ : bytes_)[static_cast<std::size_t>(token)];
  while (progress.beginning && progress.stripped < most_stripped_ && text.starts_with(strip_)) {
    text.erase(0, strip_.size());
    ++progress.stripped;
  }
  if (!text.empty()) progress.beginning = false;
  return text;
}

std::string_view TokenDecoder::bytes(Token token) const {
  if (token < 0 || static_cast<std::size_t>(token) >= bytes_.size()) return {};
  return bytes_[static_cast<std::size_t>(token)];
}

}  // namespace engine::model
