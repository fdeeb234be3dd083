#include "optimizer-rt/client/objects/svm.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "optimizer-rt/client/objects/sub_context.h"
#include "optimizer-rt/client/platform/device.h"

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

copy::Region SvmBlock::part(const void* p, size_t bytes) const {
  return copy::range(reinterpret_cast<uint64_t>(p) - native_, bytes);
}

void SvmBlock::note(const Mapping& mapping) {
  const MutexLock lock(mutex_);
  maps_.push_back(mapping);
}

bool SvmBlock::take(const void* pointer, Mapping& out) {
  const MutexLock lock(mutex_);
  const auto same = [pointer](const Mapping& m) { return m.pointer == pointer; };
  const auto last = std::find_if(maps_.rbegin(), maps_.rend(), same);
  if (last == maps_.rend()) return false;
  out = *last;
  maps_.erase(std::next(last).base());
  return true;
}

void SvmBlock::give_back() {
  if (!sub_context.session.alive()) return;
  try {
    sub_context.session.call<api::FnId::clSVMFree>({}, as<cl_context>(sub_context.name),
                                                   reinterpret_cast<void*>(native_));
  } catch (const Failure&) {  // the link has just closed
  }
}

std::shared_ptr<SvmBlock> SvmBlocks::find(const void* p, size_t bytes) const {
  const MutexLock lock(mutex_);
  const auto behind = blocks_.upper_bound(p);
  if (behind == blocks_.begin()) return nullptr;
  const std::shared_ptr<SvmBlock>& block = std::prev(behind)->second;
  return block->holds(p, bytes) ? block : nullptr;
}

void SvmBlocks::add(std::shared_ptr<SvmBlock> block) {
  const MutexLock lock(mutex_);
  const void* const base = block->base;
  blocks_[base] = std::move(block);
}

std::shared_ptr<SvmBlock> SvmBlocks::remove(const void* base) {
  const MutexLock lock(mutex_);
  const auto node = blocks_.extract(base);
  return node ? node.mapped() : nullptr;
}

void SvmBlocks::give_all_back() {
  std::map<const void*, std::shared_ptr<SvmBlock>> blocks;
  {
    const MutexLock lock(mutex_);
    blocks.swap(blocks_);
  }
  for (const auto& [base, block] : blocks) block->give_back();
}

bool has_svm(_cl_device_id& device) {
  const auto can = device.number<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES);
  return can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
}

}  // namespace gt::virt
