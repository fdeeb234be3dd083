#include "tracer/lib/device_contents.h"

#include "tracer/lib/real_calls.h"

namespace gt::tracer {

namespace {

// False: it could not be read.
template <class T>
bool record_read(uint16_t fn, const T& read, const ReadPlace& place, SharedKind kind) {
  const uint64_t began = ticks();
  const Content content = t_choice.in_callback ? Content{} : read_back(read, place);
  const uint64_t now = ticks();
  record(RecordType::SharedContent, fn, now, uint64_t{read.key.load(std::memory_order_relaxed)}, content.hash,
         content.bytes, now - began, kind);
  return content.bytes != 0;
}

void record_unknown(uint16_t fn, SharedKind kind) {
  record(RecordType::SharedContent, fn, ticks(), 0, 0, 0, 0, kind);
}

// May a kernel write it?
bool writable(const LiveObject& object) {
  const auto get = real<decltype(clGetMemObjectInfo)>(api::FnId::clGetMemObjectInfo);
  const auto handle = reinterpret_cast<cl_mem>(object.key.load(std::memory_order_relaxed));
  cl_mem_flags flags = 0;
  return !get || get(handle, CL_MEM_FLAGS, sizeof flags, &flags, nullptr) != CL_SUCCESS || !(flags & CL_MEM_READ_ONLY);
}

}  // namespace

namespace detail {

void Before::object(LiveObject& object) noexcept {
  if (object.kept.exchange(true, std::memory_order_relaxed)) return;
  object.kept.store(record_read(fn_, object, place_, SharedKind::Object), std::memory_order_relaxed);
}
void Before::memory(LiveAllocation& memory) noexcept {
  if (memory.kept.exchange(true, std::memory_order_relaxed)) return;
  memory.kept.store(record_read(fn_, memory, place_, SharedKind::Memory), std::memory_order_relaxed);
}
void Before::kernel(cl_kernel kernel) noexcept {
  const bool whole = each_bound(
      kernel, [this](LiveObject& o) { object(o); }, [this](LiveAllocation& m) { memory(m); });
  if (!whole) record_unknown(fn_, SharedKind::Object);
}

void Before::commands(_cl_command_buffer_khr* buffer) noexcept {
  const bool whole = each_recorded(
      buffer, [this](LiveObject& o) { object(o); }, [this](LiveAllocation& m) { memory(m); });
  if (!whole) record_unknown(fn_, SharedKind::Object);
}

}  // namespace detail

void record_written(uint16_t fn, cl_command_queue queue, cl_kernel kernel, cl_event event) noexcept {
  const ReadPlace place{queue, event ? 1u : 0u, event ? &event : nullptr};
  const bool whole = each_bound(
      kernel,
      [&](const LiveObject& object) {
        if (writable(object)) record_read(fn, object, place, SharedKind::WrittenObject);
      },
      [&](const LiveAllocation& memory) { record_read(fn, memory, place, SharedKind::WrittenMemory); });
  if (!whole) record_unknown(fn, SharedKind::WrittenObject);
}

}  // namespace gt::tracer
