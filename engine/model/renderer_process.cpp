#include "model/renderer_process.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "model/jinja/render_script.h"

namespace engine::model {
namespace {

// Isolated: neither the environment nor the current folder says what is imported.
pid_t spawn_python(int socket) {
  std::array<const char*, 9> arguments{ENGINE_PYTHON, "-I", "-B",          "-X",
                                       "utf8",        "-c", kRenderScript, nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, socket, STDOUT_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t process = -1;
  const int error = posix_spawn(&process, ENGINE_PYTHON, &files, &attributes,
                                const_cast<char* const*>(arguments.data()), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    throw std::runtime_error(fmt::format("{}, which renders it, cannot be run: {}", ENGINE_PYTHON,
                                         std::strerror(error)));
  return process;
}

}  // namespace

RendererProcess::RendererProcess() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::runtime_error(fmt::format("no socket: {}", std::strerror(errno)));
  socket_ = ends[0];
  try {
    process_ = spawn_python(ends[1]);
  } catch (...) {
    close(ends[0]);
    close(ends[1]);
    throw;
  }
  close(ends[1]);
}

RendererProcess::~RendererProcess() {
  close(socket_);
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

std::string RendererProcess::exchange(std::string_view line) {
  const std::string message = std::string(line) + "\n";
  for (std::size_t sent = 0; sent < message.size();) {
    const ssize_t n = send(socket_, message.data() + sent, message.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_ended();
    sent += static_cast<std::size_t>(n);
  }
  std::string answer;
  std::array<char, 65536> block{};
  while (!answer.ends_with('\n')) {
    const ssize_t n = recv(socket_, block.data(), block.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail_ended();
    answer.append(block.data(), static_cast<std::size_t>(n));
  }
  answer.pop_back();
  return answer;
}

void RendererProcess::fail_ended() {
  int status = 0;
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(std::exchange(process_, -1), &status, 0);
  }
  const bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
  throw std::runtime_error(late
                               ? "rendering takes too long"
                               : "the process that renders it has ended; python3-jinja2 is needed");
}

}  // namespace engine::model
