#include "model/model.h"

#include <fmt/format.h>

#include "model/dtype.h"
#include "model/tensor_store.h"

namespace engine::model {
namespace {

// The ids of the template's reply tokens. Throws ModelError for one that is no special token.
std::vector<Token> find_reply_tokens(const Tokenizer& tokenizer, const ChatTemplate& chat,
                                     const std::filesystem::path& dir) {
  std::vector<Token> found;
  for (const std::string& text : chat.reply_tokens()) {
    const std::optional<Token> token = tokenizer.find(text);
    if (!token || !tokenizer.is_special(*token)) {
      throw ModelError(dir / "chat_format.json",
                       fmt::format("roles.assistant.content_tokens: \"{}\" is no special token "
                                   "of tokenizer.json",
                                   text));
    }
    found.push_back(*token);
  }
  return found;
}

}  // namespace

Model Model::load(const std::filesystem::path& dir) {
  if (!std::filesystem::is_directory(dir)) throw ModelError(dir, "no such folder");
  ModelConfig config = ModelConfig::load(dir);
  auto store = std::make_unique<const TensorStore>(TensorStore::open(dir));
  if (config.model_type != "kvpc") config.mtp = config.mtp && Weights::has_drafter(config, *store);
  Tokenizer tokenizer = Tokenizer::load(dir / "tokenizer.json");
  if (tokenizer.size() > config.vocabulary) {
    throw ModelError(dir / "tokenizer.json",
                     fmt::format("ids up to {}, but the model's vocabulary has {} tokens",
                                 tokenizer.size() - 1, config.vocabulary));
  }
  std::unique_ptr<const ChatTemplate> chat = load_chat_template(dir, tokenizer);
  std::vector<Token> reply_tokens;
  if (chat) reply_tokens = find_reply_tokens(tokenizer, *chat, dir);
  return Model(std::move(config), std::move(store), std::move(tokenizer), std::move(chat),
               std::move(reply_tokens));
}

Model::Model(ModelConfig config, std::unique_ptr<const TensorStore> store, Tokenizer tokenizer,
             std::unique_ptr<const ChatTemplate> chat, std::vector<Token> reply_tokens)
    : config_(std::move(config)),
      store_(std::move(store)),
      weights_(Weights::bind(config_, *store_)),
      tokenizer_(std::move(tokenizer)),
      chat_(std::move(chat)),
      reply_tokens_(std::move(reply_tokens)) {
  // What binding has looked at.
  for (const SafetensorsFile& file : store_->files())
    release_pages(file.bytes(), file.bytes());
}

std::size_t Model::weight_bytes() const {
  std::size_t elements = 0;
  for (const TensorView* tensor : store_->tensors())
    elements += tensor->data.size() / dtype_size(tensor->dtype);
  return elements * sizeof(bf16);
}

void Model::release(std::span<const std::byte> values) const {
  store_->release(values);
  // A tied head is the embedding, which backends may read in place.
  if (values.data() != static_cast<const void*>(weights_.embedding))
    weights_.converted.discard(values);
}

Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

}  // namespace engine::model
