#include "model/tokenizer.h"

#include "model/added_tokens.h"
#include "model/bpe_model.h"
#include "model/json_file.h"
#include "model/normalizer.h"
#include "model/post_processor.h"
#include "model/pre_tokenizer.h"
#include "model/token_decoder.h"
#include "model/tokenizer_file.h"
#include "model/utf8.h"

namespace engine::model {
namespace {

constexpr std::size_t kMaxFileBytes = 256U << 20U;
constexpr std::size_t kMaxConfigBytes = 16U << 20U;

// An added token stands for the text that it is found as, as in Hugging Face's library; a special
// one for its content, so that it is the same token when it is encoded again.
TokenDecoder read_decoder(const JsonNode& root, const TokenizerFile& file, const AddedTokens& added,
                          bool byte_level) {
  TokenDecoder::Texts texts{std::vector<std::string>(file.size()), std::vector<bool>(file.size())};
  for (const auto& [text, token] : file.ids)
    texts.vocabulary[static_cast<std::size_t>(token)] = text;
  for (std::size_t i = 0; i < added.tokens().size(); ++i) {
    const AddedToken& token = added.tokens()[i];
    const auto index = static_cast<std::size_t>(token.token);
    texts.vocabulary[index] = token.special ? token.content : added.text(i);
    texts.added[index] = true;
  }
  const auto node = root.find("decoder");
  const nlohmann::json bytes = {{"type", "ByteLevel"}};
  if (!node && !byte_level) root.fail("\"decoder\" is missing");
  return TokenDecoder(node ? *node : JsonNode(bytes, root.file()), std::move(texts));
}

const JsonNode& require_bpe(const JsonNode& model) {
  const auto type = model.find("type");
  if (type && type->string() != "BPE") type->fail_expected("\"BPE\"");
  return model;
}

}  // namespace

struct Tokenizer::Parts {
  Parts(const JsonNode& root, const TokenizerFile& file)
      : normalizer(Normalizer::read(root.find("normalizer"))),
        pre_tokenizer(PreTokenizer::read(root.find("pre_tokenizer"))),
        added(file.added, normalizer),
        model(require_bpe(root.at("model")), file, pre_tokenizer.byte_level()),
        post_processor(PostProcessor::read(root.find("post_processor"))),
        decoder(read_decoder(root, file, added, pre_tokenizer.byte_level())) {
    if (post_processor.largest() >= static_cast<Token>(file.size()))
      root.at("post_processor").fail("it adds an id that names no token");
  }

  void read_config(const JsonNode& config);
  void encode_part(std::string_view part, bool at_start, bool literal, BpeModel::Scratch& scratch,
                   std::vector<Token>& out) const;

  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  AddedTokens added;
  BpeModel model;
  PostProcessor post_processor;
  TokenDecoder decoder;
};

// What transformers does with tokenizer_config.json: these flags say more than the post-processor.
void Tokenizer::Parts::read_config(const JsonNode& config) {
  const auto tokens = [&](std::string_view key) {
    auto text = config.at(key);
    if (text.value().is_object()) text = text.at("content");
    for (const AddedToken& token : added.tokens()) {
      if (token.content == text.string()) return std::vector<Token>{token.token};
    }
    text.fail_expected("an added token of tokenizer.json");
  };
  if (const auto flag = config.find("add_bos_token"))
    post_processor.set_prefix(flag->boolean() ? tokens("bos_token") : std::vector<Token>());
  if (const auto flag = config.find("add_eos_token"))
    post_processor.set_suffix(flag->boolean() ? tokens("eos_token") : std::vector<Token>());
}

// Text without added tokens that are found as written.
void Tokenizer::Parts::encode_part(std::string_view part, bool at_start, bool literal,
                                   BpeModel::Scratch& scratch, std::vector<Token>& out) const {
  const std::string text = normalizer.apply(part);
  const TextRange whole{0, literal ? text.size() : 0};
  for (const auto& [range, token] :
       added.split(text, AddedTokens::Which::kNormalized, {&whole, 1})) {
    if (token) {
      out.push_back(*token);
      continue;
    }
    CutText cut(text.substr(range.begin, range.end - range.begin), at_start && range.begin == 0);
    pre_tokenizer.cut(cut);
    for (std::size_t i = 0; i < cut.pieces.size(); ++i)
      model.encode(cut.piece(i), scratch, out);
  }
}

Tokenizer::Tokenizer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::load(const std::filesystem::path& tokenizer_json) {
  Tokenizer tokenizer = parse(read_file(tokenizer_json, kMaxFileBytes), tokenizer_json);
  const std::filesystem::path config = tokenizer_json.parent_path() / "tokenizer_config.json";
  if (std::filesystem::exists(config)) {
    const nlohmann::json parsed = parse_json(read_file(config, kMaxConfigBytes), config);
    tokenizer.parts_->read_config(JsonNode(parsed, config));
  }
  return tokenizer;
}

Tokenizer Tokenizer::parse(std::string_view json, const std::filesystem::path& file) {
  const nlohmann::json parsed = parse_json(json, file);
  const JsonNode root(parsed, file);
  return Tokenizer(std::make_unique<Parts>(root, TokenizerFile::read(root)));
}

std::vector<Token> Tokenizer::encode(std::string_view text, SpecialText special) const {
  std::string replaced;
  if (utf8_stretch(text, true) != text.size() && !parts_->model.takes_any_bytes())
    text = replaced = replace_invalid(text);
  const TextRange literal{0, special == SpecialText::kIsText ? text.size() : 0};
  return encode(text, {&literal, 1});
}

std::vector<Token> Tokenizer::encode(std::string_view text,
                                     std::span<const TextRange> literal) const {
  std::vector<Token> tokens;
  BpeModel::Scratch scratch;
  std::span<const TextRange> ahead = literal;
  for (const auto& [range, token] :
       parts_->added.split(text, AddedTokens::Which::kAsWritten, literal)) {
    if (token) {
      tokens.push_back(*token);
    } else {
      parts_->encode_part(text.substr(range.begin, range.end - range.begin), range.begin == 0,
                          touches(range, ahead), scratch, tokens);
    }
  }
  return tokens;
}

std::vector<std::string> Tokenizer::marks() const {
  std::vector<std::string> marks;
  for (const AddedToken& token : parts_->added.tokens()) {
    if (token.is_mark()) marks.push_back(token.content);
  }
  return marks;
}

std::vector<Token> Tokenizer::encode_prompt(std::string_view text) const {
  return parts_->post_processor.apply(encode(text, SpecialText::kIsToken));
}

std::string_view Tokenizer::decode(Token token) const {
  return parts_->decoder.bytes(token);
}

std::string Tokenizer::decode(std::span<const Token> tokens) const {
  std::string text;
  TokenDecoder::Progress progress;
  for (const Token token : tokens)
    text += parts_->decoder.next(token, progress);
  return text;
}

const TokenDecoder& Tokenizer::decoder() const {
  return parts_->decoder;
}

std::optional<Token> Tokenizer::find(std::string_view bytes) const {
  for (const AddedToken& token : parts_->added.tokens()) {
    if (token.content == bytes) return token.token;
  }
  for (std::size_t i = 0; i < size(); ++i) {
    const auto token = static_cast<Token>(i);
    if (!bytes.empty() && decode(token) == bytes) return token;
  }
  return std::nullopt;
}

bool Tokenizer::is_special(Token token) const {
  const AddedToken* const added = parts_->added.find(token);
  return added != nullptr && added->special;
}

std::size_t Tokenizer::size() const {
  return parts_->decoder.size();
}

}  // namespace engine::model
