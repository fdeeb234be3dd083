#include "optimizer-rt/client/calls/shared_use.h"

#include <algorithm>

namespace gt::virt {

void SharedUse::add(const Block& block, const void* p, size_t bytes, bool writes) {
  if (!block || !block->pages || !block->pages->is_used() || bytes == 0) return;
  const auto offset = static_cast<size_t>(static_cast<const uint8_t*>(p) - block->base);
  const auto same = std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) {
    return part.block == block && part.offset == offset && part.bytes == bytes;
  });
  if (same != parts_.end())
    same->writes = same->writes || writes;
  else
    parts_.push_back({block, offset, bytes, writes});
}

void SharedUse::begin(Command& c) {
  std::erase_if(parts_, [&](const Part& part) { return &part.block->sub_context != &c.sub_context(); });
  std::vector<Ref<_cl_event>> sent;
  for (const Part& part : parts_) {
    part.block->pages->send(part.block, part.offset, part.bytes, sent);
    if (part.writes && !event_) event_ = Ref<_cl_event>(&c.want_event());
  }
  for (const Ref<_cl_event>& event : sent) c.comes_after(event);
}

void SharedUse::end() {
  for (const Part& part : parts_)
    if (part.writes) part.block->pages->written_by(event_, part.offset, part.bytes);
}

}  // namespace gt::virt
