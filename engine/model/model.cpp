#include "model/model.h"

#include <fmt/format.h>

#include "model/tensor_store.h"

namespace engine::model {

Model Model::load(const std::filesystem::path& dir) {
  if (!std::filesystem::is_directory(dir)) throw ModelError(dir, "no such folder");
  ModelConfig config = ModelConfig::load(dir);
  auto store = std::make_unique<const TensorStore>(TensorStore::open(dir));
  Tokenizer tokenizer = Tokenizer::load(dir / "tokenizer.json");
  if (tokenizer.size() > config.vocabulary) {
    throw ModelError(dir / "tokenizer.json",
                     fmt::format("ids up to {}, but the model's vocabulary has {} tokens",
                                 tokenizer.size() - 1, config.vocabulary));
  }
  std::optional<ChatTemplate> chat;
  const std::filesystem::path chat_file = dir / "chat_template.json";
  if (std::filesystem::exists(chat_file)) chat = ChatTemplate::load(chat_file);
  return Model(std::move(config), std::move(store), std::move(tokenizer), std::move(chat));
}

Model::Model(ModelConfig config, std::unique_ptr<const TensorStore> store, Tokenizer tokenizer,
             std::optional<ChatTemplate> chat)
    : config_(std::move(config)),
      store_(std::move(store)),
      weights_(Weights::bind(config_, *store_)),
      tokenizer_(std::move(tokenizer)),
      chat_(std::move(chat)) {}

Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

}  // namespace engine::model
