// The "normalizer" of tokenizer.json: what happens to a text before it is cut. Internal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/json_file.h"
#include "model/normal_form.h"
#include "model/pattern.h"

namespace engine::model {

// Steps by name: NFC, NFD, NFKC, NFKD, Lowercase, Strip, Prepend, Replace, and Sequence.
// Const after construction; any thread may call it.
class Normalizer {
 public:
  // Throws ModelError for a step that is not one of these.
  static Normalizer read(const std::optional<JsonNode>& node);

  // Bytes that are no UTF-8 stay as they are. Throws ModelError if a regular expression exceeds its
  // match limit.
  std::string apply(std::string_view text) const;

 private:
  struct Lowercase {};
  struct Strip {
    bool left, right;
  };
  struct Prepend {
    std::string text;
  };
  struct Replace {
    Pattern pattern;
    std::string content;
  };
  using Step = std::variant<NormalForm, Lowercase, Strip, Prepend, Replace>;

  void add(const JsonNode& node);
  static std::string run(const Step& step, std::string_view text);

  std::vector<Step> steps_;
};

// `text` with what `pattern` matches made `content`.
std::string replace_all(std::string_view text, const Pattern& pattern, std::string_view content);

}  // namespace engine::model
