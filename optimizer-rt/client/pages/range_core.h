// What a TrackedRange is made of: its mappings, its pages' states, its fetches; and what happens at a touch.
//
// Locks: mutex_ is taken with all signals blocked, as the handler of SIGSEGV takes it, too, and no memory of a range is
// touched under it. `fetch` and `visit` run without it. A page is in one fetch at a time; while it is in one, or ready
// in the alias, nobody but that fetch changes it, unless invalidate() makes that stale. Thread safety: all functions.
#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "optimizer-rt/client/pages/fault_targets.h"
#include "optimizer-rt/client/pages/page_file.h"
#include "optimizer-rt/client/pages/page_service.h"
#include "optimizer-rt/client/pages/page_states.h"
#include "optimizer-rt/client/pages/range_types.h"
#include "optimizer-rt/client/pages/read_ahead.h"
#include "traces/base/fork_mark.h"
#include "traces/base/mutex.h"
#include "traces/base/signals_blocked.h"
#include "traces/base/status.h"

namespace gt::virt {

class TrackedRange;

class GT_SCOPED_CAPABILITY QuietLock {
 public:
  explicit QuietLock(Mutex& mutex) GT_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~QuietLock() GT_RELEASE() { mutex_.unlock(); }
  QuietLock(const QuietLock&) = delete;
  QuietLock& operator=(const QuietLock&) = delete;

 private:
  const SignalsBlocked quiet_;  // before the mutex, and longer
  Mutex& mutex_;
};

class RangeCore : private FaultTarget {
 public:
  static constexpr size_t Page = SharedPage;

  RangeCore(FilePart file, RangeSetup setup);
  Status begin();
  ~RangeCore();

  std::byte* view() const { return view_; }
  std::byte* alias() const { return alias_; }
  size_t bytes() const { return bytes_; }
  bool in_child() const { return mark_.in_child(); }

  void invalidate(PageRun run);
  int hold();
  void release(int held);
  bool may_be_dirty() const { return may_be_dirty_.load(std::memory_order_relaxed); }
  // Appends what it took, in pages, ascending.
  void take(PageRun run, std::vector<PageRun>& taken);
  bool bring(PageRun run);
  // Once no fetch and no read-ahead has any of them.
  void set_dirty(PageRun run) { set_settled(run, PageState::Dirty); }
  void set_clean(PageRun run) { set_settled(run, PageState::Clean); }
  RangeCounts counts() const;

  // nullptr: none has it.
  static RangeCore* find(const void* p);
  TrackedRange* owner = nullptr;

  // Fork: a private copy of what is there, put in the view's place in the child.
  static void copy_for_child(FaultTarget* target);
  static void end_copy(FaultTarget* target);
  static void use_copy(FaultTarget* target);

 private:
  struct Fetching : PageTask {
    RangeCore* range = nullptr;
    PageRun pages;
    bool under_way = false;
    bool wanted = false;  // somebody waits; else it will be ready
    bool stale = false;   // invalidated since it began
  };

  // A write that waits for holders looks again after so many microseconds, and so often.
  static constexpr unsigned HeldUs = 20;
  static constexpr int MostLooks = 20'000;
  // Who holds first lets a thread go whose pages came too late, for at most so many looks.
  static constexpr int MostForOthers = 2'000;
  bool held_by_others() const GT_REQUIRES(mutex_);

  static Answer touched_entry(FaultTarget* self, uintptr_t address, Access access);
  Answer touched(uintptr_t address, Access access);
  Answer touched_open(uintptr_t address, Access access) const;
  Answer touched_clean(uintptr_t address, Access access) GT_REQUIRES(mutex_);
  void set_settled(PageRun run, PageState state);
  bool is_fetching(PageRun run) const GT_REQUIRES(mutex_);

  void want(size_t page) GT_REQUIRES(mutex_);
  void start_ahead(ReadAhead::Stream& stream) GT_REQUIRES(mutex_);
  Fetching* fetching_at(size_t page) GT_REQUIRES(mutex_);
  Fetching* begin_fetch(PageRun run, bool wanted) GT_REQUIRES(mutex_);
  size_t fetchable_end(size_t page, size_t end) const GT_REQUIRES(mutex_);
  static void run_fetching(PageTask* task);
  bool fetch(Fetching& fetching);
  void fetched(Fetching& fetching, bool good) GT_REQUIRES(mutex_);
  void open(PageRun run) GT_REQUIRES(mutex_);
  void announce();

  PageRun around(size_t page, size_t unit) const GT_REQUIRES(mutex_);
  size_t least_unit() const GT_REQUIRES(mutex_);
  bool set(PageRun run, PageState state) GT_REQUIRES(mutex_);
  void take_fresh(PageRun run, std::vector<PageRun>& taken) GT_REQUIRES(mutex_);
  bool finds_nothing(PageRun run) const;
  void look_for_lone_fresh() GT_REQUIRES(mutex_);
  bool is_held() const GT_REQUIRES(mutex_);
  void keep_touched(PageRun run) GT_REQUIRES(mutex_);
  void update() GT_REQUIRES(mutex_);

  const FilePart file_;
  const PageFetch fetch_;
  const size_t bytes_, pages_;
  const ForkMark mark_ = ForkMark::here();
  void* const at_;
  std::byte* view_ = nullptr;
  std::byte* alias_ = nullptr;
  void* copy_ = nullptr;

  mutable Mutex mutex_;
  PageStates states_ GT_GUARDED_BY(mutex_);
  ReadAhead reads_ GT_GUARDED_BY(mutex_);
  ReadAhead writes_ GT_GUARDED_BY(mutex_);
  std::array<Fetching, 8> fetchings_ GT_GUARDED_BY(mutex_);
  std::array<int, 8> holders_ GT_GUARDED_BY(mutex_) = {};  // threads; 0: nobody
  RangeCounts done_counts_ GT_GUARDED_BY(mutex_) = {};
  size_t borders_told_ GT_GUARDED_BY(mutex_) = 0;
  // All Fresh pages, when somebody looked. No page becomes Fresh: that it still is all of them its length says.
  PageRun lone_fresh_ GT_GUARDED_BY(mutex_);
  bool ending_ GT_GUARDED_BY(mutex_) = false;
  bool crowded_ GT_GUARDED_BY(mutex_) = false;  // the system has no more mappings for us
  std::atomic<int> ended_fetches_{0};
  std::atomic<bool> overtaken_{false};  // somebody waits for pages that a command took again while they came
  std::atomic<bool> may_be_dirty_{true};
  std::atomic<bool> all_absent_{false};  // and nothing is fetched or ready
  // All that take() could find new: the one run of Fresh pages, while no page is Dirty and nobody holds. begin << 32 |
  // end, so that one load sees both; Elsewhere: there is more, or nobody has looked.
  static constexpr uint64_t Elsewhere = ~uint64_t{0};
  std::atomic<uint64_t> only_fresh_{Elsewhere};
};

}  // namespace gt::virt
