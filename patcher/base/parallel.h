#pragma once

#include <cstddef>
#include <functional>

namespace patcher {

// Calls work(0) to work(count - 1), each once, on all cores, and returns when all have returned.
// The calling thread takes part. A call from inside of `work` stays on its own thread, so that
// threads never outnumber cores. Throws what a call of `work` threw.
void parallel_for(size_t count, const std::function<void(size_t)>& work);

}  // namespace patcher
