#include "cli/weights_digest.h"

#include "model/tensor_store.h"
#include "runtime/digest.h"

namespace engine::cli {

std::string weights_digest(const std::filesystem::path& folder) {
  runtime::Digest digest;
  digest.add(model::MappedFile(folder / "config.json").bytes());
  const model::TensorStore store = model::TensorStore::open(folder);
  for (const model::TensorView* tensor : store.tensors()) {
    digest.add(tensor->name + ' ' + tensor->dtype);
    digest.add(tensor->shape.size());
    for (const std::size_t size : tensor->shape)
      digest.add(size);
    digest.add(tensor->data);
    store.release(tensor->data);
  }
  return digest.hex();
}

}  // namespace engine::cli
