#include "patcher/base/descriptor.h"

#include <unistd.h>

#include <utility>

namespace patcher {

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

}  // namespace patcher
