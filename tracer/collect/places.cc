#include "tracer/collect/places.h"

namespace gt::tracer {

// Live memory, then the calling thread's stack (relative to the caller's frame, which ASLR does not move), then static
// data, then other threads' stacks (relative to their bottom), then a number of its own for each address that nothing
// explains.
Place Places::of(const TracedThread& thread, uint64_t address, uint64_t stack_pointer) {
  TracedProcess& process = *thread.process;
  if (Place place = process.objects.find_memory(address); place.found) return place;
  if (address >= thread.stack_low && address < thread.stack_high) {
    const auto cls =
        tables_.names.class_of({model::ObjectKind::Stack, thread.id, model::NoIndex, 0, model::NoIndex});
    return {{cls, 0}, address - stack_pointer, true};
  }
  if (const uint32_t module = process.modules.find_data(address); module != model::NoIndex) {
    const model::ClassId cls = tables_.class_of_data(module);
    return {{cls, 0}, address - tables_.trace.modules[module].base, true};
  }
  for (const auto& other : threads_) {
    if (other->process != &process || other->ended) continue;
    if (address < other->stack_low || address >= other->stack_high) continue;
    const auto cls = tables_.names.class_of({model::ObjectKind::Stack, other->id, model::NoIndex, 0, model::NoIndex});
    return {{cls, 0}, address - other->stack_high, true};
  }
  ObjectRef& unknown = process.unknown[address];
  if (!unknown.known()) {
    const auto cls = tables_.names.class_of({model::ObjectKind::Unknown, thread.id, model::NoIndex, 0, model::NoIndex});
    unknown = tables_.names.create(cls);
  }
  return {unknown, 0, true};
}

}  // namespace gt::tracer
