#include "optimizer-rt/client/pages/page_states.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace gt::virt {
namespace {

bool is_open(PageState state) { return state == PageState::Fresh || state == PageState::Dirty; }
bool same_protection(PageState a, PageState b) { return a == b || (is_open(a) && is_open(b)); }

// The first of n bytes that is not `value`.
size_t first_other(const uint8_t* bytes, size_t n, uint8_t value) {
  uint64_t eight;
  std::memset(&eight, value, sizeof eight);
  size_t i = 0;
  for (uint64_t now; i + sizeof now <= n; i += sizeof now) {
    std::memcpy(&now, bytes + i, sizeof now);
    if (now != eight) break;
  }
  while (i < n && bytes[i] == value) ++i;
  return i;
}

uint8_t* zeros(size_t bytes) {
  void* const p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<uint8_t*>(p);
}

}  // namespace

bool PageStates::make(size_t pages) {
  pages_ = pages;
  blocks_ = (pages + Block - 1) / Block;
  block_ = zeros(blocks_);
  page_ = zeros(blocks_ * Block);
  counts_[static_cast<size_t>(PageState::Fresh)] = pages;
  return block_ && page_;
}

PageStates::~PageStates() {
  if (block_) ::munmap(block_, blocks_);
  if (page_) ::munmap(page_, blocks_ * Block);
}

PageState PageStates::at(size_t page) const {
  const uint8_t whole = block_[page / Block];
  return static_cast<PageState>(whole == Mixed ? page_[page] : whole);
}

size_t PageStates::run_end(size_t page, size_t end) const {
  const auto state = static_cast<uint8_t>(at(page));
  for (size_t i = page; i < end;) {
    const size_t block = i / Block, block_end = std::min(end, (block + 1) * Block);
    if (block_[block] == Mixed) {
      const size_t other = i + first_other(page_ + i, block_end - i, state);
      if (other < block_end) return other;
      i = block_end;
    } else {
      const size_t other = block + first_other(block_ + block, (end - 1) / Block + 1 - block, state);
      if (other == block) return i;
      i = std::min(end, other * Block);
    }
  }
  return end;
}

size_t PageStates::find(PageState state, size_t from, size_t end) const {
  if (count(state) == 0) return end;
  while (from < end && at(from) != state) from = run_end(from, end);
  return std::min(from, end);
}

bool PageStates::differs_before(size_t page) const {
  return page > 0 && page < pages_ && !same_protection(at(page - 1), at(page));
}

// Takes the pages out of the counts, and gives the borders at and between them.
size_t PageStates::leave_counts(size_t begin, size_t end) {
  size_t borders = differs_before(end);
  for (size_t i = begin; i < end;) {
    const size_t next = run_end(i, end);
    counts_[static_cast<size_t>(at(i))] -= next - i;
    borders += differs_before(i);
    i = next;
  }
  return borders;
}

void PageStates::set_in_block(size_t begin, size_t end, uint8_t state) {
  const size_t block = begin / Block, first = block * Block;
  if (begin == first && end == std::min(first + Block, pages_)) {
    block_[block] = state;
    return;
  }
  if (block_[block] == state) return;
  if (block_[block] != Mixed) {
    std::memset(page_ + first, block_[block], Block);
    block_[block] = Mixed;
  }
  std::memset(page_ + begin, state, end - begin);
  const size_t n = std::min(Block, pages_ - first);
  if (first_other(page_ + first, n, state) == n) block_[block] = state;
}

void PageStates::set(size_t begin, size_t end, PageState state) {
  if (begin >= end) return;
  borders_ -= leave_counts(begin, end);
  counts_[static_cast<size_t>(state)] += end - begin;
  for (size_t i = begin; i < end;) {
    const size_t block_end = std::min(end, (i / Block + 1) * Block);
    set_in_block(i, block_end, static_cast<uint8_t>(state));
    i = block_end;
  }
  borders_ += size_t{differs_before(begin)} + differs_before(end);
}

}  // namespace gt::virt
