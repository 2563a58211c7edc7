// The CPU backend: the card's twin on a machine that has none.
#pragma once

#include <memory>

#include "kernels/ops.h"

namespace engine::kernels::cpu {

std::unique_ptr<Backend> make_backend(const BackendOptions& options);

}  // namespace engine::kernels::cpu
