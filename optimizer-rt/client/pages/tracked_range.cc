#include "optimizer-rt/client/pages/tracked_range.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "optimizer-rt/client/pages/range_core.h"
#include "optimizer-rt/client/pages/range_fork.h"

namespace gt::virt {
namespace {

constexpr size_t Page = TrackedRange::Page;

PageRun pages_of(size_t offset, size_t bytes) {
  return {offset / Page, bytes == 0 ? offset / Page : (offset + bytes - 1) / Page + 1};
}
PageRun whole_pages_of(size_t offset, size_t bytes) { return {(offset + Page - 1) / Page, (offset + bytes) / Page}; }

}  // namespace

Result<std::unique_ptr<TrackedRange>> TrackedRange::make(Setup setup) {
  setup.bytes = std::max<size_t>(1, (setup.bytes + Page - 1) / Page) * Page;
  if (reinterpret_cast<uintptr_t>(setup.at) % Page != 0)
    return Status(Kind::Invalid, "pages shared with a device begin at a multiple of their size");
  if (Page % static_cast<size_t>(::sysconf(_SC_PAGESIZE)) != 0)
    return Status(Kind::Unsupported, "pages shared with a device: the system's pages are larger than 4 KiB");
  watch_forks();
  Result<FilePart> file = FilePart::take(setup.bytes);
  if (!file.ok()) return file.status();
  auto core = std::make_unique<RangeCore>(std::move(*file), std::move(setup));
  if (Status s = core->begin(); !s.ok()) return s;
  std::unique_ptr<TrackedRange> range(new TrackedRange(std::move(core)));
  range->core_->owner = range.get();
  return range;
}

TrackedRange::TrackedRange(std::unique_ptr<RangeCore> core) : core_(std::move(core)) {}
TrackedRange::~TrackedRange() = default;

std::byte* TrackedRange::program_view() const { return core_->view(); }
std::byte* TrackedRange::alias() const { return core_->alias(); }
size_t TrackedRange::bytes() const { return core_->bytes(); }

void TrackedRange::invalidate(size_t offset, size_t bytes) {
  if (bytes != 0 && !core_->in_child()) core_->invalidate(pages_of(offset, bytes));
}

int TrackedRange::hold() { return core_->hold(); }
void TrackedRange::release(int held) { core_->release(held); }

bool TrackedRange::may_be_dirty() const { return core_->may_be_dirty(); }

size_t TrackedRange::take_dirty(size_t offset, size_t bytes, const Visit& visit) {
  if (bytes == 0 || !may_be_dirty() || core_->in_child()) return 0;
  std::vector<PageRun> taken;
  core_->take(pages_of(offset, bytes), taken);
  size_t all = 0;
  for (const PageRun& run : taken) {
    visit(run.begin * Page, run.pages() * Page, alias() + run.begin * Page);
    all += run.pages() * Page;
  }
  return all;
}

bool TrackedRange::bring(size_t offset, size_t bytes, For what) {
  if (bytes == 0 || core_->in_child()) return true;
  const bool good = core_->bring(pages_of(offset, bytes));
  if (what == For::Writing) core_->set_dirty(pages_of(offset, bytes));
  return good;
}

bool TrackedRange::overwrite(size_t offset, size_t bytes) {
  if (bytes == 0 || core_->in_child()) return true;
  const PageRun all = pages_of(offset, bytes), whole = whole_pages_of(offset, bytes);
  bool good = true;
  for (const size_t edge : {all.begin, all.end - 1}) good = (whole.has(edge) || core_->bring({edge, edge + 1})) && good;
  core_->set_dirty(all);
  return good;
}

void TrackedRange::wrote_both(size_t offset, size_t bytes) {
  const PageRun whole = whole_pages_of(offset, bytes);
  if (!whole.empty() && !core_->in_child()) core_->set_clean(whole);
}

TrackedRange::Counts TrackedRange::counts() const { return core_->counts(); }

TrackedRange* TrackedRange::find(const void* p) {
  const RangeCore* const core = RangeCore::find(p);
  return core ? core->owner : nullptr;
}

}  // namespace gt::virt
