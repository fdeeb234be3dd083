#include "tracer/collect/known_objects.h"

namespace gt::tracer {

api::MemoryFacts KnownObjects::memory_object(uint64_t handle) const {
  const auto it = memory.find(handle);
  return it == memory.end() ? api::MemoryFacts{} : it->second.facts;
}

uint64_t KnownObjects::memory_parent(uint64_t handle) const {
  const auto it = memory.find(handle);
  return it == memory.end() ? 0 : it->second.parent;
}

api::MemoryFacts KnownObjects::allocation(uint64_t address) const {
  const Memory* found = objects_.memory_around(address);
  if (!found || !found->svm) return {};
  return {found->size, 0, found->on_host};
}

api::Mapped KnownObjects::mapping(uint64_t address) const {
  const auto it = mapped.find(address);
  return it == mapped.end() ? api::Mapped{} : it->second;
}

void KnownObjects::unmap(uint64_t address) {
  if (const auto it = mapped.find(address); it != mapped.end()) mapped.erase(it);
}

void KnownObjects::forget(uint64_t handle) {
  memory.erase(handle);
  kernels.erase(handle);
  command_buffers.erase(handle);
}

}  // namespace gt::tracer
