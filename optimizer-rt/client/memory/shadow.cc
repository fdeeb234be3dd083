#include "optimizer-rt/client/memory/shadow.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <list>
#include <vector>

#include "optimizer-rt/client/session/session.h"
#include "traces/base/mutex.h"
#include "traces/base/overcommit.h"
#include "transport/protocol/messages.h"

namespace gt::virt {
namespace {

constexpr size_t Page = 4096;

size_t whole_pages(size_t bytes) { return (bytes + Page - 1) / Page * Page; }

class OrdinaryShadow final : public Shadow {
 public:
  explicit OrdinaryShadow(void* data) : Shadow(data) {}
  ~OrdinaryShadow() override { std::free(data()); }
};

// Memory that parent and child would share: copied before a fork, and the copy put in its place in the child.
struct Range {
  void* base = nullptr;
  size_t bytes = 0;
  void* copy = nullptr;
};

struct Ranges {
  Mutex mutex;  // held during a fork
  std::list<Range> list GT_GUARDED_BY(mutex);
};
Ranges& ranges() {
  static auto* const all = new Ranges;
  return *all;
}

// What was never touched is not read: that would take memory for it.
void copy(Range& r) {
  void* const copy = ::mmap(nullptr, r.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::vector<unsigned char> there(r.bytes / Page);
  if (copy == MAP_FAILED) return;
  r.copy = copy;
  const bool known = ::mincore(r.base, r.bytes, there.data()) == 0;
  for (size_t i = 0; i < there.size(); ++i) {
    if (!known || (there[i] & 1))
      std::memcpy(static_cast<char*>(copy) + i * Page, static_cast<char*>(r.base) + i * Page, Page);
  }
}

// The mutex is held from one handler to the next.
void before_fork() GT_NO_THREAD_SAFETY_ANALYSIS {
  ranges().mutex.lock();
  for (Range& r : ranges().list) copy(r);
}
void after_fork() GT_NO_THREAD_SAFETY_ANALYSIS {
  for (Range& r : ranges().list) {
    if (r.copy) ::munmap(r.copy, r.bytes);
    r.copy = nullptr;
  }
  ranges().mutex.unlock();
}
void after_fork_in_child() GT_NO_THREAD_SAFETY_ANALYSIS {
  for (Range& r : ranges().list) {
    if (r.copy) ::mremap(r.copy, r.bytes, r.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, r.base);
    r.copy = nullptr;
  }
  ranges().mutex.unlock();
}

class SharedShadow final : public Shadow {
 public:
  SharedShadow(Session& session, wire::SegmentId segment, void* data, size_t bytes)
      : Shadow(data), session_(session), segment_(segment) {
    static const int once = ::pthread_atfork(before_fork, after_fork, after_fork_in_child);
    (void)once;
    const MutexLock lock(ranges().mutex);
    range_ = ranges().list.insert(ranges().list.end(), {data, bytes, nullptr});
  }
  ~SharedShadow() override {
    {
      const MutexLock lock(ranges().mutex);
      ranges().list.erase(range_);
    }
    (void)session_.link().withdraw(segment_).ok();
  }

 private:
  Session& session_;
  const wire::SegmentId segment_;
  std::list<Range>::iterator range_;
};

std::unique_ptr<Shadow> make_shared_with(Session& session, size_t bytes) {
  void* base = nullptr;
  if (!memory_is_promised()) return nullptr;
  const Result<wire::SegmentId> segment = session.link().allocate(bytes, &base);
  if (!segment.ok()) return nullptr;
  if (session.link().shared_address(base, bytes))
    return std::make_unique<SharedShadow>(session, *segment, base, bytes);
  (void)session.link().withdraw(*segment).ok();
  return nullptr;
}

}  // namespace

std::unique_ptr<Shadow> Shadow::make(const _cl_context& context, size_t bytes) {
  const size_t whole = whole_pages(bytes);
  for (const auto& sub_context : context.sub_contexts) {
    Session& session = sub_context->session;
    if (bytes <= wire::LargestInline || !session.shares_memory() || !session.alive()) continue;
    if (auto shadow = make_shared_with(session, whole)) return shadow;
  }
  void* const p = std::aligned_alloc(Page, whole);
  return p ? std::make_unique<OrdinaryShadow>(p) : nullptr;
}

}  // namespace gt::virt
