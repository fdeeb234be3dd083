// Random programs on pages that are kept in step, beside a model that has one memory: what is read is what was last
// written, by whichever side; and how much is opened, and sent, around what is written.
#include <random>
#include <vector>

#include "tests/unit/fake_pages.h"

using namespace gt;
using namespace gt::test;
using For = virt::TrackedRange::For;

namespace {

// A byte of each page: the page's last one, so that half a page would be seen.
constexpr size_t Place = Page - 1;

class Model {
 public:
  Model(size_t pages, unsigned seed) : pages_(pages), both_(pages, 0), random_(seed), range_(pages_.range(64 * Page)) {}

  void step() {
    const size_t begin = below(both_.size()), most = both_.size() - begin;
    const size_t end = begin + 1 + below(below(4) == 0 ? most : std::min<size_t>(most, 20));
    switch (below(8)) {
      case 0:
        return write(begin, begin + 1);
      case 1:
        return write(begin, end);
      case 2:
        return read(begin, begin + 1);
      case 3:
        return read(begin, end);
      case 4:
        return launch(begin, end, false);
      case 5:
        return launch(begin, end, true);
      case 6:
        return bring(begin, end);
      default:
        return overwrite(begin, end);
    }
  }
  void end() {
    launch(0, both_.size(), false);
    read(0, both_.size());
    const auto counts = range_->counts();
    CHECK(counts.clean + counts.dirty + counts.absent + counts.fresh == both_.size());
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  uint8_t next() { return ++last_; }
  uint8_t& device(size_t page) { return pages_.device[page * Page + Place]; }

  void write(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) byte_of(*range_, i * Page + Place) = both_[i] = next();
  }
  void read(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) REQUIRE(byte_of(*range_, i * Page + Place) == both_[i]);
  }
  // It sees all of them; and writes some, if it writes.
  void launch(size_t begin, size_t end, bool writes) {
    const bool holds = below(3) == 0;
    const int held = holds ? range_->hold() : -1;
    range_->take_dirty(begin * Page, (end - begin) * Page, [&](size_t offset, size_t bytes, const void* from) {
      std::memcpy(pages_.device.data() + offset, from, bytes);
    });
    for (size_t i = begin; i < end; ++i) REQUIRE(device(i) == both_[i]);
    for (size_t i = begin; writes && i < end; i += 1 + below(5)) device(i) = both_[i] = next();
    if (writes) range_->invalidate(begin * Page, (end - begin) * Page);
    if (holds) range_->release(held);
  }
  void bring(size_t begin, size_t end) {
    REQUIRE(range_->bring(begin * Page, (end - begin) * Page, below(2) == 0 ? For::Reading : For::Writing));
  }
  void overwrite(size_t begin, size_t end) {
    REQUIRE(range_->overwrite(begin * Page, (end - begin) * Page));
    for (size_t i = begin; i < end; ++i) range_->alias()[i * Page + Place] = std::byte{both_[i] = next()};
  }

  FakePages pages_;
  std::vector<uint8_t> both_;
  std::mt19937 random_;
  std::unique_ptr<virt::TrackedRange> range_;
  uint8_t last_ = 0;
};

}  // namespace

TEST_CASE("random programs: one memory, whichever side writes") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Model model(seed % 2 == 0 ? 40 : 1300, seed);
    for (int i = 0; i < 250; ++i) model.step();
    model.end();
  }
}

TEST_CASE("what is written in order takes few faults, and no more is sent than twice as much") {
  constexpr size_t Pages = 4096;
  for (const size_t written : {size_t{1}, size_t{2}, size_t{100}, size_t{1000}, Pages}) {
    CAPTURE(written);
    FakePages pages(Pages);
    const auto range = pages.range();
    for (size_t i = 0; i < Pages; ++i) byte_of(*range, i * Page) = 1;
    pages.send(*range);
    for (size_t i = 0; i < written; ++i) byte_of(*range, i * Page) = 2;
    CHECK(range->counts().write_faults <= 10 + written / 200);
    CHECK(pages.send(*range) <= 2 * written * Page);
    for (size_t i = 0; i < Pages; ++i) REQUIRE(pages.device[i * Page] == (i < written ? 2 : 1));
  }
}

TEST_CASE("what is written here and there: no page more") {
  constexpr size_t Pages = 1024;
  FakePages pages(Pages);
  const auto range = pages.range();
  for (size_t i = 0; i < Pages; ++i) byte_of(*range, i * Page) = 1;
  pages.send(*range);
  for (size_t i = 0; i < Pages; i += 13) byte_of(*range, i * Page) = 2;
  CHECK(pages.send(*range) == (Pages + 12) / 13 * Page);
}

TEST_CASE("a launch that finds nothing, and what is touched for the first time after it") {
  FakePages pages(600);
  const auto range = pages.range();
  for (size_t i = 0; i < 100; ++i) byte_of(*range, i * Page) = 1;
  CHECK(pages.send(*range) == 100 * Page);
  for (const size_t page : {300, 299, 599, 100}) {  // what was never touched comes to lie in several places
    CHECK(pages.send(*range) == 0);
    byte_of(*range, page * Page) = 7;
    CHECK(range->take_dirty(0, 99 * Page, [](size_t, size_t, const void*) {}) == 0);
    CHECK(pages.send(*range) == Page);
    CHECK(pages.device[page * Page] == 7);
  }
  byte_of(*range, 50 * Page) = 8;
  CHECK(pages.send(*range) == Page);
  CHECK(pages.send(*range) == 0);
  const int held = range->hold();  // now also what was not touched is protected
  CHECK(pages.send(*range) == 0);
  CHECK(range->counts().fresh == 0);
  range->release(held);
  byte_of(*range, 400 * Page) = 9;
  CHECK(pages.send(*range) == Page);
}
