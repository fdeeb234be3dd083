// What happens when a page is touched, and the fetches that it needs. Most of it runs in the handler of SIGSEGV: it
// calls nothing that allocates.
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/futex.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "optimizer-rt/client/pages/range_core.h"

namespace gt::virt {
namespace {

// Whether the program's view of a page has that access, whatever we think: the kernel looks, and changes nothing.
bool is_readable(uintptr_t address) {
  const timespec at_once{0, 0};
  return ::syscall(SYS_futex, address & ~uintptr_t{3}, FUTEX_WAIT_PRIVATE, 0, &at_once, nullptr, 0) == 0 ||
         errno != EFAULT;
}
bool is_writable(uintptr_t address) {
  int nobody = 0;
  const long add_nothing = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0);
  return ::syscall(SYS_futex, &nobody, FUTEX_WAKE_OP_PRIVATE, 0, nullptr, address & ~uintptr_t{3}, add_nothing) >= 0 ||
         errno != EFAULT;
}

}  // namespace

FaultTarget::Answer RangeCore::touched_entry(FaultTarget* self, uintptr_t address, Access access) {
  auto* const range = static_cast<RangeCore*>(self);
  const Answer answer = range->touched(address, access);
  range->overtaken_.store(false, std::memory_order_relaxed);
  return answer;
}

FaultTarget::Answer RangeCore::touched(uintptr_t address, Access access) {
  const size_t page = (address - low) / Page;
  int looks = 0;
  for (bool waited = false;; waited = true) {
    int seen = 0;
    bool is_held = false;
    {
      const MutexLock lock(mutex_);  // signals are blocked
      if (ending_) return Answer::Again;
      const PageState state = states_.at(page);
      is_held = state == PageState::Clean && access != Access::Read && ++looks < MostLooks && held_by_others();
      if (state == PageState::Clean && !is_held)
        return waited && access != Access::Write ? Answer::Again : touched_clean(address, access);
      if (state != PageState::Clean && state != PageState::Absent) return touched_open(address, access);
      if (state == PageState::Absent) {
        done_counts_.read_faults += !waited;
        if (ReadAhead::Stream* const stream = reads_.ready_at(page)) {
          open(stream->ready);
          start_ahead(reads_.goes_on(*stream));
          update();
          return Answer::Again;
        }
        seen = ended_fetches_.load();
        want(page);
      }
    }
    is_held ? void(::usleep(HeldUs)) : ended_fetches_.wait(seen);
  }
}

// Another thread opened it just now, or the program has protected it.
FaultTarget::Answer RangeCore::touched_open(uintptr_t address, Access access) const {
  const bool good = access == Access::Read ? is_readable(address) : is_writable(address);
  return good ? Answer::Again : Answer::NotOurs;
}

FaultTarget::Answer RangeCore::touched_clean(uintptr_t address, Access access) {
  if (!is_readable(address)) return Answer::NotOurs;
  if (access == Access::Read) return Answer::Again;
  const size_t page = (address - low) / Page;
  ++done_counts_.write_faults;
  ReadAhead::Stream& stream = writes_.touched(page);
  const size_t unit = least_unit();
  const PageRun run =
      unit > 1 ? around(page, unit) : PageRun{page, states_.run_end(page, std::min(pages_, page + stream.window))};
  stream.next = run.end;
  const bool good = set(run, PageState::Dirty) || set(around(page, pages_), PageState::Dirty);
  update();
  return good ? Answer::Again : Answer::NotOurs;
}

bool RangeCore::is_fetching(PageRun run) const {
  return std::any_of(fetchings_.begin(), fetchings_.end(),
                     [&](const Fetching& f) { return f.under_way && f.pages.meets(run); });
}

RangeCore::Fetching* RangeCore::fetching_at(size_t page) {
  for (Fetching& f : fetchings_) {
    if (f.under_way && f.pages.has(page)) return &f;
  }
  return nullptr;
}

// As far as pages are Absent, and neither fetched nor ready.
size_t RangeCore::fetchable_end(size_t page, size_t end) const {
  end = reads_.first_ready(page, states_.run_end(page, end));
  for (const Fetching& f : fetchings_) {
    if (f.under_way && f.pages.meets({page, end})) end = std::max(page, f.pages.begin);
  }
  return end;
}

RangeCore::Fetching* RangeCore::begin_fetch(PageRun pages, bool wanted) {
  for (Fetching& f : fetchings_) {
    if (f.under_way) continue;
    f.pages = pages;
    f.wanted = wanted;
    f.stale = false;
    f.under_way = true;
    all_absent_ = false;
    return &f;
  }
  return nullptr;
}

// REQUIRES: the page is Absent and not ready. Where eight fetches are under way already: nothing; one of them will end.
void RangeCore::want(size_t page) {
  if (Fetching* const f = fetching_at(page)) {
    ReadAhead::Stream* const stream = reads_.expecting(f->pages.begin);
    if (!f->wanted && stream) reads_.goes_on(*stream);  // the program is faster than what comes ahead
    f->wanted = true;
    return;
  }
  ReadAhead::Stream& stream = reads_.touched(page);
  const bool begins = stream.hits == 0;
  const PageRun near = around(page, std::max(least_unit(), begins ? reads_.first() : size_t{1}));
  PageRun run{page, fetchable_end(page, std::max(near.end, std::min(pages_, page + stream.window)))};
  while (run.begin > near.begin && !is_fetching({run.begin - 1, run.begin}) &&
         reads_.first_ready(run.begin - 1, run.begin) == run.begin)
    --run.begin;
  stream.next = run.begin;
  if (Fetching* const f = begin_fetch(run, true)) PageService::post(f);
}

// What comes next in a stream, before anybody wants it.
void RangeCore::start_ahead(ReadAhead::Stream& stream) {
  if (!stream.is_sure() || !stream.ready.empty() || stream.next >= pages_) return;
  if (states_.at(stream.next) != PageState::Absent || fetching_at(stream.next)) return;
  const PageRun run{stream.next, fetchable_end(stream.next, std::min(pages_, stream.next + stream.window))};
  if (run.empty()) return;
  if (Fetching* const f = begin_fetch(run, false)) PageService::post(f);
}

void RangeCore::run_fetching(PageTask* task) {
  auto* const fetching = static_cast<Fetching*>(task);
  fetching->range->fetch(*fetching);
}

bool RangeCore::fetch(Fetching& fetching) {
  for (;;) {
    const PageRun run = fetching.pages;  // nobody changes it meanwhile
    const bool good = fetch_(run.begin * Page, alias_ + run.begin * Page, run.pages() * Page);
    const QuietLock lock(mutex_);
    done_counts_.fetches += 1;
    done_counts_.fetched_pages += run.pages();
    if (fetching.stale && fetching.wanted && good && !ending_) {
      fetching.stale = false;
      overtaken_ = true;
      continue;
    }
    fetched(fetching, good);
    update();
    announce();  // under the lock: after it, the range may be gone
    return good;
  }
}

void RangeCore::fetched(Fetching& fetching, bool good) {
  fetching.under_way = false;
  if (ending_) return;
  if (fetching.wanted) {
    open(fetching.pages);
    if (ReadAhead::Stream* const stream = reads_.expecting(fetching.pages.end); stream && good) start_ahead(*stream);
    return;
  }
  if (fetching.stale || !good) return;
  ReadAhead::Stream* const stream = reads_.expecting(fetching.pages.begin);
  if (stream && stream->ready.empty()) stream->ready = fetching.pages;
}

void RangeCore::open(PageRun run) {
  reads_.drop_ready(run);
  if (ReadAhead::Stream* const stream = reads_.expecting(run.begin)) stream->next = run.end;
  set(run, PageState::Clean);
}

void RangeCore::announce() {
  ended_fetches_.fetch_add(1);
  ended_fetches_.notify_all();
}

bool RangeCore::bring(PageRun run) {
  bool all = true;
  for (size_t page = run.begin; page < run.end;) {
    Fetching* mine = nullptr;
    int seen = 0;
    {
      const QuietLock lock(mutex_);
      page = states_.find(PageState::Absent, page, run.end);
      if (page == run.end) break;
      if (ReadAhead::Stream* const stream = reads_.ready_at(page)) {
        open(stream->ready);
        update();
        continue;
      }
      seen = ended_fetches_.load();
      if (Fetching* const other = fetching_at(page))
        other->wanted = true;
      else
        mine = begin_fetch({page, fetchable_end(page, std::min(run.end, page + reads_.most()))}, true);
    }
    if (mine)
      all = fetch(*mine) && all;
    else
      ended_fetches_.wait(seen);
  }
  return all;
}

void RangeCore::set_settled(PageRun run, PageState state) {
  for (int looks = 0;;) {
    int seen = 0;
    bool is_held = false;
    {
      const QuietLock lock(mutex_);
      seen = ended_fetches_.load();
      is_held = state == PageState::Dirty && ++looks < MostLooks && held_by_others();
      if (!is_held && !is_fetching(run)) {
        reads_.drop_ready(run);
        set(run, state);
        update();
        return;
      }
    }
    is_held ? void(::usleep(HeldUs)) : ended_fetches_.wait(seen);
  }
}

}  // namespace gt::virt
