#include "optimizer-rt/client/pages/range_fork.h"

#include <pthread.h>
#include <sys/mman.h>

#include <cstring>

#include "optimizer-rt/client/pages/range_core.h"

namespace gt::virt {
namespace {

// Locks are held from one handler to the next.
void before_fork() {
  lock_targets();
  PageService::lock_for_fork();
  each_target(&RangeCore::copy_for_child);
}
void after_fork() {
  each_target(&RangeCore::end_copy);
  PageService::unlock_after_fork(false);
  unlock_targets(false);
}
void after_fork_in_child() {
  each_target(&RangeCore::use_copy);
  PageService::unlock_after_fork(true);
  unlock_targets(true);
}

}  // namespace

void watch_forks() {
  static const int once = ::pthread_atfork(before_fork, after_fork, after_fork_in_child);
  (void)once;
}

// Where there is no memory for it, the child has none there.
void RangeCore::copy_for_child(FaultTarget* target) {
  auto* const core = static_cast<RangeCore*>(target);
  void* const copy =
      ::mmap(nullptr, core->bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (copy == MAP_FAILED) return;
  core->copy_ = copy;
  for (size_t from = 0; from < core->bytes_;) {
    const FilePart::Extent data = core->file_.touched(from, core->bytes_, core->alias_);
    std::memcpy(static_cast<std::byte*>(copy) + data.begin, core->alias_ + data.begin, data.end - data.begin);
    from = data.end;
  }
}

void RangeCore::end_copy(FaultTarget* target) {
  auto* const core = static_cast<RangeCore*>(target);
  if (core->copy_) ::munmap(core->copy_, core->bytes_);
  core->copy_ = nullptr;
}

void RangeCore::use_copy(FaultTarget* target) {
  auto* const core = static_cast<RangeCore*>(target);
  if (core->copy_) ::mremap(core->copy_, core->bytes_, core->bytes_, MREMAP_MAYMOVE | MREMAP_FIXED, core->view_);
  core->copy_ = nullptr;
}

}  // namespace gt::virt
