#include "optimizer-rt/client/pages/range_core.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "optimizer-rt/client/pages/fault_handler.h"

namespace gt::virt {
namespace {

constexpr size_t FirstRead = 16, MostWritten = 256;  // pages
// Places where protection changes, in all ranges: each is a mapping more, of which a process may have 65530.
constinit std::atomic<size_t> g_borders{0};
constexpr size_t ManyBorders = 8192;
constexpr size_t FewBorders = 64;  // looking through so many runs is cheaper than a system call

int protection_of(PageState state) {
  switch (state) {
    case PageState::Absent:
      return PROT_NONE;
    case PageState::Clean:
      return PROT_READ;
    default:
      return PROT_READ | PROT_WRITE;
  }
}

}  // namespace

RangeCore::RangeCore(FilePart file, RangeSetup setup)
    : file_(std::move(file)),
      fetch_(std::move(setup.fetch)),
      bytes_(setup.bytes),
      pages_(setup.bytes / Page),
      at_(setup.at),
      reads_(FirstRead),
      writes_(1) {
  reads_.limit(setup.most_ahead / Page);
  writes_.limit(MostWritten);
  for (Fetching& f : fetchings_) {
    f.run = &run_fetching;
    f.range = this;
  }
}

Status RangeCore::begin() {
  const QuietLock lock(mutex_);
  void* const view = file_.map(at_);  // before anything else is mapped there
  if (view == MAP_FAILED && errno == EEXIST) return {Kind::Busy, "the address of pages shared with a device is taken"};
  if (view == MAP_FAILED) return system_error("pages shared with a device", errno);
  view_ = static_cast<std::byte*>(view);
  if (!states_.make(pages_)) return system_error("pages shared with a device", ENOMEM);
  void* const alias = file_.map(nullptr);
  if (alias == MAP_FAILED) return system_error("a second mapping of pages shared with a device", errno);
  alias_ = static_cast<std::byte*>(alias);
  for (std::byte* const p : {alias_, view_}) {
    ::madvise(p, bytes_, MADV_DONTFORK);  // a child gets a copy: it would write into ours
    if (::mprotect(p, bytes_, PROT_READ | PROT_WRITE) != 0) return system_error("pages shared with a device", errno);
  }
  low = reinterpret_cast<uintptr_t>(view_);
  high = low + bytes_;
  FaultTarget::touched = &touched_entry;
  if (!PageService::start() || !add_target(this)) return system_error("threads for pages shared with a device", ENOMEM);
  stay_first();
  return {};
}

RangeCore::~RangeCore() {
  if (!in_child()) {
    remove_target(this);
    for (bool busy = true; busy;) {
      int seen = 0;
      {
        const QuietLock lock(mutex_);
        ending_ = true;
        seen = ended_fetches_.load();
        busy = std::any_of(fetchings_.begin(), fetchings_.end(), [](const Fetching& f) { return f.under_way; });
      }
      if (busy) ended_fetches_.wait(seen);
    }
    announce();
    while (pins.load() != 0) ::usleep(20);  // handlers of threads that waited
    if (alias_) ::madvise(alias_, bytes_, MADV_REMOVE);
    if (alias_) ::munmap(alias_, bytes_);
    g_borders -= borders_told_;
  }
  if (view_) ::munmap(view_, bytes_);
}

// Also the protection, which comes first where it takes something away. False: the system refused; nothing has changed.
bool RangeCore::set(PageRun run, PageState state) {
  if (run.empty()) return true;
  if (::mprotect(view_ + run.begin * Page, run.pages() * Page, protection_of(state)) != 0) {
    crowded_ = true;
    return false;
  }
  states_.set(run.begin, run.end, state);
  return true;
}

void RangeCore::update() {
  g_borders += states_.borders() - borders_told_;  // modulo 2^64
  borders_told_ = states_.borders();
  may_be_dirty_ = states_.count(PageState::Dirty) + states_.count(PageState::Fresh) != 0;
  all_absent_ = states_.count(PageState::Absent) == pages_ && !reads_.any_ready() &&
                std::none_of(fetchings_.begin(), fetchings_.end(), [](const Fetching& f) { return f.under_way; });
  const bool alone = states_.count(PageState::Dirty) == 0 && states_.count(PageState::Fresh) == lone_fresh_.pages();
  only_fresh_ = alone && pages_ < UINT32_MAX && !is_held() ? lone_fresh_.begin << 32 | lone_fresh_.end : Elsewhere;
}

// Where there are many pieces, they get larger: then there are fewer.
size_t RangeCore::least_unit() const {
  const size_t borders = g_borders.load(std::memory_order_relaxed);
  if (crowded_ || borders >= 3 * ManyBorders) return pages_;
  return borders < ManyBorders ? 1 : borders < 2 * ManyBorders ? PageStates::Block : 32 * PageStates::Block;
}

// The pages of one state around that one, as far as its unit goes.
PageRun RangeCore::around(size_t page, size_t unit) const {
  const PageState state = states_.at(page);
  const size_t lowest = page / unit * unit;
  PageRun run{page, states_.run_end(page, std::min(pages_, lowest + unit))};
  while (run.begin > lowest && states_.at(run.begin - 1) == state) --run.begin;
  return run;
}

// Where eight threads hold already: without. A thread that launches on and on would keep others' pages from ever
// coming.
int RangeCore::hold() {
  for (int looks = 0; looks < MostForOthers && overtaken_.load(); ++looks) ::usleep(HeldUs);
  overtaken_ = false;
  const QuietLock lock(mutex_);
  const auto free = std::find(holders_.begin(), holders_.end(), 0);
  if (free == holders_.end()) return -1;
  *free = ::gettid();
  only_fresh_ = Elsewhere;  // take() has to protect what nobody touched, too
  return static_cast<int>(free - holders_.begin());
}

void RangeCore::release(int held) {
  if (held < 0) return;
  const QuietLock lock(mutex_);
  holders_[static_cast<size_t>(held)] = 0;
}

bool RangeCore::is_held() const {
  return std::any_of(holders_.begin(), holders_.end(), [](int holder) { return holder != 0; });
}

bool RangeCore::held_by_others() const {
  if (!is_held()) return false;
  return std::find(holders_.begin(), holders_.end(), ::gettid()) == holders_.end();
}

void RangeCore::invalidate(PageRun run) {
  if (all_absent_.load(std::memory_order_relaxed)) return;
  stay_first();
  const QuietLock lock(mutex_);
  reads_.drop_ready(run);
  for (Fetching& f : fetchings_) f.stale = f.stale || (f.under_way && f.pages.meets(run));
  for (size_t page = run.begin; page < run.end;) {
    const PageRun rest{page, states_.find(PageState::Dirty, page, run.end)};
    keep_touched(rest);
    page = rest.end == run.end ? run.end : states_.run_end(rest.end, run.end);
  }
  update();
}

// Makes pages that are not Dirty Absent, but for what the program touched of Fresh ones, which is Dirty.
void RangeCore::keep_touched(PageRun run) {
  if (run.empty()) return;
  if (states_.at(run.begin) == PageState::Absent && states_.run_end(run.begin, run.end) == run.end) return;
  if (states_.find(PageState::Fresh, run.begin, run.end) == run.end)
    return static_cast<void>(set(run, PageState::Absent));
  if (::mprotect(view_ + run.begin * Page, run.pages() * Page, PROT_NONE) != 0) crowded_ = true;  // before it is asked
  for (size_t page = run.begin; page < run.end;) {
    const size_t end = states_.run_end(page, run.end);
    const bool fresh = states_.at(page) == PageState::Fresh;
    for (size_t from = page; fresh && from < end;) {
      const FilePart::Extent data = file_.touched(from * Page, end * Page, alias_);
      states_.set(from, data.begin / Page, PageState::Absent);
      set({data.begin / Page, data.end / Page}, PageState::Dirty);
      from = data.end / Page;
    }
    if (!fresh) states_.set(page, end, PageState::Absent);
    page = end;
  }
}

// What most launches find, without the lock. What this thread has written is Dirty, or Fresh and in the file, since
// before the load; where another thread has changed that after it, that thread has taken it, or sees to it.
bool RangeCore::finds_nothing(PageRun run) const {
  const uint64_t fresh = only_fresh_.load();
  if (fresh == Elsewhere) return false;
  const size_t begin = std::max<size_t>(run.begin, fresh >> 32), end = std::min<size_t>(run.end, fresh & UINT32_MAX);
  return begin >= end || file_.touched(begin * Page, end * Page, alias_).begin == end * Page;
}

void RangeCore::look_for_lone_fresh() {
  const size_t fresh = states_.count(PageState::Fresh);
  if (states_.count(PageState::Dirty) != 0 || fresh == lone_fresh_.pages() || states_.borders() > FewBorders) return;
  const size_t begin = states_.find(PageState::Fresh, 0, pages_);
  const PageRun run{begin, begin == pages_ ? begin : states_.run_end(begin, pages_)};
  if (run.pages() == fresh) lone_fresh_ = run;
}

void RangeCore::take(PageRun run, std::vector<PageRun>& taken) {
  if (!may_be_dirty()) return;
  stay_first();
  if (finds_nothing(run)) return;
  const QuietLock lock(mutex_);
  const size_t before = taken.size();
  for (size_t page = run.begin; page < run.end;) {
    const size_t end = states_.run_end(page, run.end);
    if (states_.at(page) == PageState::Dirty) taken.push_back({page, end});
    if (states_.at(page) == PageState::Fresh) take_fresh({page, end}, taken);
    page = end;
  }
  for (size_t i = before; i < taken.size();) {  // runs that touch each other go together
    PageRun whole = taken[i];
    for (++i; i < taken.size() && taken[i].begin == whole.end; ++i) whole.end = taken[i].end;
    set(whole, PageState::Clean);  // or they stay what they are, and are taken again
  }
  look_for_lone_fresh();
  update();
}

void RangeCore::take_fresh(PageRun run, std::vector<PageRun>& taken) {
  // In pieces, what is left between them would be mappings: the whole run is Clean then, zeros where it was not
  // touched. So it is while writes are to wait.
  bool whole =
      is_held() || (least_unit() > 1 && file_.touched(run.begin * Page, run.end * Page, alias_).begin < run.end * Page);
  if (whole && ::mprotect(view_ + run.begin * Page, run.pages() * Page, PROT_READ) != 0) {  // before it is asked
    crowded_ = true;
    whole = false;
  }
  for (size_t page = run.begin; page < run.end;) {
    const FilePart::Extent data = file_.touched(page * Page, run.end * Page, alias_);
    if (data.begin < data.end) taken.push_back({data.begin / Page, data.end / Page});
    if (whole) states_.set(page, data.end / Page, PageState::Clean);
    page = data.end / Page;
  }
}

RangeCore* RangeCore::find(const void* p) {
  const SignalsBlocked quiet;
  FaultTarget* const target = pinned_target(reinterpret_cast<uintptr_t>(p));
  if (!target) return nullptr;
  target->pins.fetch_sub(1);
  return static_cast<RangeCore*>(target);
}

RangeCounts RangeCore::counts() const {
  const QuietLock lock(mutex_);
  RangeCounts counts = done_counts_;
  counts.clean = states_.count(PageState::Clean);
  counts.dirty = states_.count(PageState::Dirty);
  counts.absent = states_.count(PageState::Absent);
  counts.fresh = states_.count(PageState::Fresh);
  return counts;
}

}  // namespace gt::virt
