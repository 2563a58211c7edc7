#include <fmt/format.h>

#include <csignal>
#include <mutex>
#include <ostream>
#include <stdexcept>

#include "cli/commands.h"
#include "cli/session.h"
#include "lane/server.h"

namespace engine::cli {
namespace {

// SIGTERM and SIGINT wait to be asked for, in this thread and those it starts.
class TerminationSignals {
 public:
  TerminationSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  TerminationSignals(const TerminationSignals&) = delete;
  TerminationSignals& operator=(const TerminationSignals&) = delete;
  ~TerminationSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  void wait() const {
    int signal = 0;
    sigwait(&signals_, &signal);
  }

 private:
  sigset_t signals_{}, before_{};
};

std::string read_key(const std::filesystem::path& file, std::istream& in) {
  std::string key = read_text(file.string(), in);
  while (key.ends_with('\n') || key.ends_with('\r'))
    key.pop_back();
  if (key.empty()) throw std::runtime_error(fmt::format("{}: the key is empty", file.string()));
  return key;
}

std::string folder_name(const std::filesystem::path& folder) {
  const std::filesystem::path path = std::filesystem::absolute(folder).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

// A template that is broken leaves the completions.
void warn_if_it_cannot_chat(const model::Model& model, const Streams& streams) {
  try {
    if (model.chat_template() != nullptr) model.chat_template()->prepare();
  } catch (const model::ModelError& error) {
    streams.err << "engine: warning: chats will be refused: " << error.what() << "\n";
  }
}

}  // namespace

int serve_command(const ServeSettings& settings, const Streams& streams) {
  const TerminationSignals signals;
  std::mutex writing;
  lane::ServerOptions options = settings.server;
  if (!settings.api_key_file.empty()) options.api_key = read_key(settings.api_key_file, streams.in);
  options.log = [&](std::string_view line) {
    const std::lock_guard lock(writing);
    streams.err << line << "\n" << std::flush;
  };
  lane::Server server(options);
  const Session session(settings.engine, streams);
  const std::unique_ptr<runtime::Engine> engine = session.make_engine();
  const model::Model& model = session.model();
  warn_if_it_cannot_chat(model, streams);
  lane::Service service(
      {.model = model,
       .name = settings.name.empty() ? folder_name(session.model_directory()) : settings.name,
       .context = session.options().context,
       .grid = session.options().prompt_rows,
       .format = settings.tool_format.empty()
                     ? lane::ToolFormat::of(model)
                     : lane::ToolFormat::named(settings.tool_format, model),
       .defaults = settings.params,
       .thoughts = lane::ThoughtMarks::of(model),
       .aliases = settings.aliases},
      *engine, settings.limits);
  server.attach(service);
  const bool is_v6 = options.host.find(':') != std::string::npos;
  streams.out << fmt::format("serving {} on http://{}:{}\n", service.served().name,
                             is_v6 ? "[" + options.host + "]" : options.host, server.port())
              << std::flush;
  signals.wait();
  server.stop(settings.grace);
  return kOk;
}

}  // namespace engine::cli
