#include "optimizer-rt/client/objects/svm.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/objects/context.h"
#include "optimizer-rt/client/base/functions.h"

namespace gt::virt {

ReservedRange::ReservedRange(ReservedRange&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

ReservedRange::~ReservedRange() {
  if (base_) ::munmap(base_, bytes_);
}

ReservedRange ReservedRange::take(uint64_t begin, size_t bytes) {
  constexpr uint64_t Lowest = uint64_t{64} << 10;  // an executor that lies gets nothing near NULL
  ReservedRange range;
  if (begin < Lowest) return range;
  auto* const wanted = reinterpret_cast<void*>(begin);
  constexpr int Flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void* const got = ::mmap(wanted, bytes, PROT_READ | PROT_WRITE, Flags, -1, 0);
  if (got == MAP_FAILED) return range;
  if (got != wanted) {  // a kernel before 4.17 takes the address for a wish
    ::munmap(got, bytes);
    return range;
  }
  range.base_ = got;
  range.bytes_ = bytes;
  return range;
}

bool SvmBlock::holds(const void* p, size_t bytes) const {
  const auto at = reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(base);
  return p >= base && at <= size && bytes <= size - at;
}

wire::Part SvmBlock::part(const void* p, size_t bytes) const {
  wire::Part part;
  part.origin = {reinterpret_cast<uint64_t>(p) - native_, 0, 0};
  part.region = {bytes, 1, 1};
  return part;
}

void SvmBlock::note(const Mapping& mapping) {
  const std::lock_guard lock(mutex_);
  maps_.push_back(mapping);
}

bool SvmBlock::take(const void* pointer, Mapping& out) {
  const std::lock_guard lock(mutex_);
  const auto same = [pointer](const Mapping& m) { return m.pointer == pointer; };
  const auto last = std::find_if(maps_.rbegin(), maps_.rend(), same);
  if (last == maps_.rend()) return false;
  out = *last;
  maps_.erase(std::next(last).base());
  return true;
}

void SvmBlock::give_back() {
  if (!place.session.alive()) return;
  try {
    place.session.call<api::FnId::clSVMFree>({}, as<cl_context>(place.name), reinterpret_cast<void*>(native_));
  } catch (const Failure&) {  // the link has just closed
  }
}

std::shared_ptr<SvmBlock> SvmBlocks::find(const void* p, size_t bytes) const {
  const std::lock_guard lock(mutex_);
  const auto behind = blocks_.upper_bound(p);
  if (behind == blocks_.begin()) return nullptr;
  const std::shared_ptr<SvmBlock>& block = std::prev(behind)->second;
  return block->holds(p, bytes) ? block : nullptr;
}

void SvmBlocks::add(std::shared_ptr<SvmBlock> block) {
  const std::lock_guard lock(mutex_);
  const void* const base = block->base;
  blocks_[base] = std::move(block);
}

std::shared_ptr<SvmBlock> SvmBlocks::remove(const void* base) {
  const std::lock_guard lock(mutex_);
  const auto node = blocks_.extract(base);
  return node ? node.mapped() : nullptr;
}

void SvmBlocks::give_all_back() {
  for (const auto& [base, block] : std::exchange(blocks_, {})) block->give_back();
}

bool has_svm(_cl_device_id& device) {
  const auto can = device.number<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES);
  return can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
}

namespace {

struct Asked {
  cl_svm_mem_flags flags;
  size_t bytes;
  cl_uint alignment;
};

// The driver's address; 0: it refuses.
uint64_t allocate_there(Place& place, ObjectId name, const Asked& asked) {
  const Bytes outputs = place.session.ask<api::FnId::clSVMAlloc>({name}, as<cl_context>(place.name), asked.flags,
                                                                 asked.bytes, asked.alignment);
  return answer_of(api::FnId::clSVMAlloc, outputs).number(api::DecodedReturn);
}

// Whole pages are asked for: only they can be had at an address.
std::shared_ptr<SvmBlock> allocate_with_shadow(Place& place, const Asked& asked) {
  constexpr int Tries = 8;
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t bytes = (asked.bytes + page - 1) / page * page;
  std::vector<std::unique_ptr<SvmBlock>> taken;  // stay the driver's until it has given another address
  std::shared_ptr<SvmBlock> found;
  for (int i = 0; i < Tries && !found; ++i) {
    const ObjectId name = place.session.new_id();
    const uint64_t native = allocate_there(place, name, {asked.flags, bytes + page, asked.alignment});
    if (native == 0) break;
    const uint64_t base = (native + page - 1) / page * page;
    ReservedRange shadow = ReservedRange::take(base, bytes);
    const bool fits = static_cast<bool>(shadow);
    auto block = std::make_unique<SvmBlock>(place, name, native, reinterpret_cast<void*>(base), asked.bytes,
                                            std::move(shadow));
    fits ? void(found = std::move(block)) : taken.push_back(std::move(block));
  }
  for (const auto& block : taken) block->give_back();
  return found;
}

std::shared_ptr<SvmBlock> allocate(Place& place, const Asked& asked) {
  if (!place.session.local()) return allocate_with_shadow(place, asked);
  const ObjectId name = place.session.new_id();
  const uint64_t native = allocate_there(place, name, asked);
  if (native == 0) return nullptr;
  return std::make_shared<SvmBlock>(place, name, native, reinterpret_cast<void*>(native), asked.bytes,
                                    ReservedRange());
}

}  // namespace

namespace fn {

void* clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
  check(context);
  constexpr cl_svm_mem_flags Access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
  const auto access = flags & Access;
  require((flags & ~Access) == 0 && (access & (access - 1)) == 0, CL_INVALID_VALUE);  // nothing finer than coarse
  require(size != 0 && (alignment & (alignment - 1)) == 0, CL_INVALID_VALUE);
  for (const Ref<_cl_device_id>& d : context->devices) {
    require(size <= d->number<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE, ~cl_ulong{0}), CL_INVALID_VALUE);
  }
  require(context->has_svm(), CL_INVALID_OPERATION);
  const std::shared_ptr<SvmBlock> block =
      allocate(*context->places[0], {access ? access : CL_MEM_READ_WRITE, size, alignment});
  require(block != nullptr, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  context->svm.add(block);
  return block->base;
}

void clSVMFree(cl_context context, void* pointer) {
  check(context);
  if (const auto block = context->svm.remove(pointer)) block->give_back();
}

}  // namespace fn
}  // namespace gt::virt
