#pragma once

#include <memory>
#include <string>
#include <utility>

#include "patcher/tree/file_map.h"

namespace patcher {

// A tree in memory in which every path is a file of the same bytes.
class OneFile : public FileOrigin {
 public:
  explicit OneFile(std::string bytes) : bytes_(std::move(bytes)) {}
  FileState read(const std::string& path) override {
    return {.source = std::make_shared<Source>(path, bytes_)};
  }

 private:
  std::string bytes_;
};

}  // namespace patcher
