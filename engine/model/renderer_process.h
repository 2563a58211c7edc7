// The process that renders a model's Jinja templates: jinja/render.py under Debian's Python, since
// a template is a program out of a downloaded folder, and a process can be limited and ended.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace engine::model {

// Not thread-safe. Ends its process on destruction.
class RendererProcess {
 public:
  // Throws std::runtime_error if Python cannot be run.
  RendererProcess();
  RendererProcess(const RendererProcess&) = delete;
  RendererProcess& operator=(const RendererProcess&) = delete;
  ~RendererProcess();

  // Sends a line and waits for the answer's, both without their end. Throws std::runtime_error if
  // the process has ended, saying why; then it is of no more use.
  std::string exchange(std::string_view line);

 private:
  [[noreturn]] void fail_ended();

  int socket_ = -1;
  pid_t process_ = -1;
};

}  // namespace engine::model
