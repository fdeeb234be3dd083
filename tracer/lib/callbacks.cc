#include "tracer/lib/callbacks.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "tracer/interpose/raw_memory.h"

namespace gt::tracer {

void Registering::announce(Ring& ring, CallbackFn kind) {
  id_ = registration_->id.load(std::memory_order_relaxed);
  kind_ = kind;
  constexpr uint32_t Bytes = sizeof(RecordHeader) + 8;
  uint8_t* at = reserve(ring, RecordType::Register, static_cast<uint16_t>(kind), Bytes, ticks());
  if (!at) return;
  std::memcpy(at, &id_, 8);
  commit(ring, Bytes);
}

void Registering::refused() {
  if (!registration_ || kind_ == CallbackFn::Program) return;
  if (kind_ == CallbackFn::NativeKernel) free_bare_kernel(id_);
  free_registration(*registration_, id_);
}

// --- Native kernels ---

namespace {

// Before the program's arguments in the block that the driver copies. As long as the strictest alignment of OpenCL's
// types, so that the program's arguments are aligned as they would be without us.
struct alignas(128) NativeHeader {
  Registration* registration;
  size_t size;  // of the program's arguments
};

}  // namespace

void CL_CALLBACK Registering::run_native_kernel(void* block) {
  const auto* header = static_cast<const NativeHeader*>(block);
  const detail::Called callback = detail::called(*header->registration, CallbackFn::NativeKernel);
  void* args = static_cast<uint8_t*>(block) + sizeof(NativeHeader);
  const auto function = reinterpret_cast<void(CL_CALLBACK*)(void*)>(callback.function);
  detail::invoke<CallbackFn::NativeKernel>(
      callback, __builtin_frame_address(0), [&] { function(args); }, header->size);
}

// What to give the driver. Without registration_, the program's own: it is to be refused, or there is no room.
NativeFn Registering::native_kernel(NativeFn function, void*& args, size_t& size, cl_uint handles,
                                    const void**& places) {
  const bool bare = !args && size == 0;
  if (bare ? handles != 0 : !wrap_arguments(function, args, size, handles, places)) return function;
  if (!bare) return &run_native_kernel;
  registration_ = take_registration(reinterpret_cast<void*>(function), nullptr);
  if (!registration_) return function;
  if (const NativeFn ours = take_bare_kernel(*registration_)) return ours;
  free_registration(*registration_, registration_->id.load(std::memory_order_relaxed));
  registration_ = nullptr;
  return function;
}

// Arguments that the driver must refuse are left to it. Memory for a large block comes from the kernel.
bool Registering::wrap_arguments(NativeFn function, void*& args, size_t& size, cl_uint handles, const void**& places) {
  if (!args || size == 0 || (handles != 0 && !places)) return false;
  if (size > SIZE_MAX / 2) return false;
  const size_t padded = (size + 7) & ~size_t{7};
  const size_t bytes = sizeof(NativeHeader) + padded + handles * sizeof(void*);
  if (bytes <= Small) {
    block_ = small_;
  } else {
    const int saved_errno = errno;
    void* mapped = interpose::raw_mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved_errno;
    if (mapped == MAP_FAILED) return false;
    block_ = mapped;
    mapped_ = bytes;
  }
  registration_ = take_registration(reinterpret_cast<void*>(function), nullptr);
  if (!registration_) return false;
  auto* begin = static_cast<uint8_t*>(block_);
  uint8_t* copy = begin + sizeof(NativeHeader);
  *reinterpret_cast<NativeHeader*>(begin) = NativeHeader{registration_, size};
  std::memcpy(copy, args, size);
  auto** moved = reinterpret_cast<const void**>(copy + padded);
  for (cl_uint i = 0; i < handles; ++i) {
    moved[i] = copy + (static_cast<const uint8_t*>(places[i]) - static_cast<const uint8_t*>(args));
  }
  if (handles != 0) places = moved;
  args = begin;
  size += sizeof(NativeHeader);
  return true;
}

void Registering::discard_block() {
  if (mapped_ != 0) interpose::raw_munmap(block_, mapped_);
}

}  // namespace gt::tracer
