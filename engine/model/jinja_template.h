// The chat template that a model is published with: Jinja, rendered as Hugging Face's
// `apply_chat_template` does. jinja/render.py says how, and how content is told from the template's
// own text; a process of its own runs it, from the first rendering on.
//
// A template may render what was said before differently once the conversation goes on (Qwen3 drops
// earlier thoughts), so a prompt need not begin with the one before it.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "model/chat_template.h"
#include "model/renderer_process.h"

namespace engine::model {

struct JinjaSources {
  std::filesystem::path file;                    // of the default template
  std::map<std::string, std::string> templates;  // by name: "default", "tool_use" with tools, ...
  std::string variables = "{}";                  // JSON: the special tokens, "bos_token" and so on
};

// What a folder has; nothing if it has no template. Throws ModelError.
std::optional<JinjaSources> find_jinja_sources(const std::filesystem::path& dir);

// For each rendering; one that takes more ends with an error.
struct RenderLimits {
  double seconds = 10;            // of processor time
  std::size_t bytes = 1U << 30U;  // of address space
};

// A rendering, and what in it is a message's or a tool's rather than the template's: at least the
// characters that marks are made of. Ranges are in order and disjoint.
struct Rendering {
  std::string text;
  std::vector<TextRange> literal;
};

class JinjaTemplate final : public ChatTemplate {
 public:
  // `marks` are texts that content must not turn into tokens.
  JinjaTemplate(JinjaSources sources, std::vector<std::string> marks,
                const RenderLimits& limits = {});

  // Throws ModelError, with the template's own words where it refuses the conversation.
  Rendering render(const Conversation& conversation) const;

  // The tokens of the rendering as a whole. BOS is there if the template writes it.
  std::vector<Token> encode(const Tokenizer& tokenizer,
                            const Conversation& conversation) const override;
  void prepare() const override;
  std::string_view source() const override { return sources_.templates.at("default"); }

 private:
  std::string exchange(std::string_view line) const;
  RendererProcess& running() const;

  const JinjaSources sources_;
  const std::vector<std::string> marks_;
  const RenderLimits limits_;
  mutable std::mutex mutex_;  // one rendering at a time
  mutable std::unique_ptr<RendererProcess> process_;
};

}  // namespace engine::model
