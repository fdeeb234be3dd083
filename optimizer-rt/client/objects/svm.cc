#include "optimizer-rt/client/objects/svm.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "optimizer-rt/client/objects/sub_context.h"
#include "optimizer-rt/client/platform/device.h"

namespace gt::virt {

ReservedRange::ReservedRange(ReservedRange&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

ReservedRange& ReservedRange::operator=(ReservedRange&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

ReservedRange::~ReservedRange() {
  if (base_) ::munmap(base_, bytes_);
}

ReservedRange ReservedRange::take(uint64_t begin, size_t bytes, int protection) {
  constexpr uint64_t Lowest = uint64_t{64} << 10;  // an executor that lies gets nothing near NULL
  ReservedRange range;
  if (begin < Lowest) return range;
  auto* const wanted = reinterpret_cast<void*>(begin);
  constexpr int Flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void* const got = ::mmap(wanted, bytes, protection, Flags, -1, 0);
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
  if (pages) pages->give_up();
  if (!sub_context.session.alive()) return;
  const auto context = as<cl_context>(sub_context.name);
  auto* const address = reinterpret_cast<void*>(native_);
  try {
    usm ? sub_context.session.call<api::FnId::clMemFreeINTEL>({}, context, address)
        : sub_context.session.call<api::FnId::clSVMFree>({}, context, address);
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

bool SvmBlocks::begins_at(const void* base) const {
  const MutexLock lock(mutex_);
  return blocks_.contains(base);
}

void SvmBlocks::add(std::shared_ptr<SvmBlock> block) {
  const MutexLock lock(mutex_);
  const void* const base = block->base;
  if (block->pages) {
    in_step_.push_back(block);
    any_in_step_ = true;
  }
  blocks_[base] = std::move(block);
}

std::shared_ptr<SvmBlock> SvmBlocks::remove(const void* base) {
  const MutexLock lock(mutex_);
  const auto node = blocks_.extract(base);
  if (!node) return nullptr;
  std::erase(in_step_, node.mapped());
  return node.mapped();
}

std::vector<std::shared_ptr<SvmBlock>> SvmBlocks::in_step(const Chooses& chooses) const {
  std::vector<std::shared_ptr<SvmBlock>> found;
  const MutexLock lock(mutex_);
  for (const std::shared_ptr<SvmBlock>& block : in_step_)
    if (block->pages->is_used() && chooses(block)) found.push_back(block);
  return found;
}

void SvmBlocks::forget_ended() const {
  std::vector<std::shared_ptr<SvmBlock>> all;
  {
    const MutexLock lock(mutex_);
    all = in_step_;
  }
  for (const std::shared_ptr<SvmBlock>& block : all) block->pages->forget_ended();
}

void SvmBlocks::give_all_back() {
  std::map<const void*, std::shared_ptr<SvmBlock>> blocks;
  {
    const MutexLock lock(mutex_);
    blocks.swap(blocks_);
    in_step_.clear();
  }
  for (const auto& [base, block] : blocks) block->give_back();
}

namespace {

// Whole pages are asked for: only they can be had at an address.
std::shared_ptr<SvmBlock> make_reserved(SubContext& sub_context, size_t wanted, const GiveMemory& give,
                                        const std::optional<UsmFacts>& usm, const KeepInStep& keep) {
  constexpr int Tries = 8;
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t bytes = (wanted + page - 1) / page * page;
  std::vector<std::unique_ptr<SvmBlock>> taken;  // stay the driver's until it has given another address
  std::shared_ptr<SvmBlock> found;
  for (int i = 0; i < Tries && !found; ++i) {
    const wire::ObjectId name = sub_context.session.new_id();
    // Small blocks lie beside each other, where something of the program's may lie: larger ones lie elsewhere.
    const uint64_t more = i < 2 ? 0 : uint64_t{64 << 10} << i;
    const uint64_t native = give(name, bytes + page + more);
    if (native == 0) break;
    const uint64_t base = (native + page - 1) / page * page;
    std::unique_ptr<KeptInStep> pages = keep ? keep(name, native, base, bytes) : nullptr;
    ReservedRange range;
    if (!keep) range = ReservedRange::take(base, bytes, usm ? PROT_NONE : PROT_READ | PROT_WRITE);
    const bool fits = pages || range;
    auto block = std::make_unique<SvmBlock>(sub_context, name, native, reinterpret_cast<void*>(base), wanted,
                                            std::move(range), usm, std::move(pages));
    fits ? void(found = std::move(block)) : taken.push_back(std::move(block));
  }
  for (const auto& block : taken) block->give_back();
  return found;
}

}  // namespace

std::shared_ptr<SvmBlock> make_block(SubContext& sub_context, size_t bytes, const GiveMemory& give,
                                     const std::optional<UsmFacts>& usm, const KeepInStep& keep) {
  if (!sub_context.session.in_process()) return make_reserved(sub_context, bytes, give, usm, keep);
  const wire::ObjectId name = sub_context.session.new_id();
  const uint64_t native = give(name, bytes);
  if (native == 0) return nullptr;
  return std::make_shared<SvmBlock>(sub_context, name, native, reinterpret_cast<void*>(native), bytes, ReservedRange(),
                                    usm);
}

bool has_usm(_cl_device_id& device) {
  constexpr cl_device_info Device = CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL;  // which all that have the extension have
  return device.number<cl_device_unified_shared_memory_capabilities_intel>(Device) &
         CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL;
}

bool has_svm(_cl_device_id& device) {
  const auto can = device.number<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES);
  return can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
}

bool has_fine_svm(_cl_device_id& device) {
  const auto can = device.number<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES);
  return can & CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
}

}  // namespace gt::virt
