// The arena of a call.
#include "traces/api/invoke_context.h"

namespace gt::api {

void* Arena::take(size_t bytes) {
  if (bytes > limit_ - used_) return nullptr;
  void* block = std::calloc(1, bytes + 1);
  if (!block) return nullptr;
  blocks_.emplace_back(block);
  used_ += bytes;
  return block;
}

void Arena::clear() {
  blocks_.clear();
  used_ = 0;
}

}  // namespace gt::api
