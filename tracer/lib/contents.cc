// Hashing what transfers move.
#include "tracer/lib/contents.h"

#include <atomic>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tracer/lib/fixed_table.h"
#include "tracer/lib/real_calls.h"
#include "traces/api/host_rows.h"

namespace gt::tracer {

namespace {

// Asks the kernel about each page as it comes to it, and trusts no older answer: data is large, and memory that was
// freed since costs a crash.
class FreshPages {
 public:
  bool readable(const uint8_t* p, size_t size) {
    const auto begin = reinterpret_cast<uintptr_t>(p);
    if (begin + (size - 1) < begin) return false;
    const uintptr_t last = (begin + size - 1) >> detail::PageShift;
    for (uintptr_t page = begin >> detail::PageShift; page <= last; ++page) {
      if (page == asked_) continue;
      if (!detail::ask_page(page)) return false;
      asked_ = page;
    }
    return true;
  }

 private:
  uintptr_t asked_ = 0;  // and found readable; page 0 never is
};

struct SvmRange {
  std::atomic<uintptr_t> key{0};  // where it begins
  std::atomic<size_t> size{0};
  void begin() { size.store(0, std::memory_order_relaxed); }
  bool meets(uintptr_t first, uintptr_t end) const {
    const uintptr_t begins = key.load(std::memory_order_relaxed);
    return begins < end && first < begins + size.load(std::memory_order_relaxed);
  }
};
FixedTable<SvmRange, 2048> g_svm;

// The first word of every object of a driver leads to its functions: what images have there. 0: free.
constexpr size_t MostDrivers = 8;
std::atomic<uint64_t> g_image_words[MostDrivers];

uint64_t first_word(cl_mem image) {
  uint64_t word = 0;
  if (readable(image, sizeof word)) std::memcpy(&word, image, sizeof word);
  return word;
}

}  // namespace

Content content_of(const void* p, const api::HostBox& box) noexcept {
  const bool slices_overlap = box.depth > 1 && box.slice_step() < box.row_step() * (box.height - 1) + box.width;
  const bool overlaps = box.row_step() < box.width || slices_overlap;
  if (box.extent() == 0 || overlaps) return {};  // such a box the driver refuses
  const auto* begin = static_cast<const uint8_t*>(p);
  FreshPages pages;
  if (!each_row(begin, box, [&](const uint8_t* row, size_t size) { return pages.readable(row, size); })) return {};
  const uint64_t bytes = box.width * box.height * box.depth;
  if (box.dense()) return {XXH3_64bits(begin + box.offset, bytes), bytes};
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  each_row(begin, box, [&](const uint8_t* row, size_t size) {
    XXH3_64bits_update(&state, row, size);
    return true;
  });
  return {XXH3_64bits_digest(&state), bytes};
}

Content take_content(const void* p, const api::HostBox& box) noexcept {
  const Content content = content_of(p, box);
  return content.bytes != 0 && spool()->capture == Capture::Full ? send_content(p, box, content) : content;
}

void note_image(cl_mem image) noexcept {
  const uint64_t word = first_word(image);
  for (std::atomic<uint64_t>& known : g_image_words) {
    uint64_t seen = 0;
    if (word == 0 || known.compare_exchange_strong(seen, word) || seen == word) return;
  }
}

api::ImageElements elements_of(cl_mem image) noexcept {
  const uint64_t word = first_word(image);
  bool known = false;
  for (const std::atomic<uint64_t>& w : g_image_words) known |= word != 0 && w.load(std::memory_order_relaxed) == word;
  auto get = known ? real<decltype(clGetImageInfo)>(api::FnId::clGetImageInfo) : nullptr;
  size_t bytes = 0;
  if (!get || get(image, CL_IMAGE_ELEMENT_SIZE, sizeof bytes, &bytes, nullptr) != CL_SUCCESS) return {};
  auto type_of = real<decltype(clGetMemObjectInfo)>(api::FnId::clGetMemObjectInfo);
  cl_mem_object_type type = 0;
  if (type_of) type_of(image, CL_MEM_TYPE, sizeof type, &type, nullptr);
  return {bytes, type == CL_MEM_OBJECT_IMAGE1D_ARRAY};
}

// What it overlaps was given back without our seeing it.
void note_svm(const void* p, size_t size) noexcept {
  const auto begin = reinterpret_cast<uintptr_t>(p);
  g_svm.for_each([=](const SvmRange& r) {
    if (r.meets(begin, begin + size)) g_svm.remove(reinterpret_cast<const void*>(r.key.load()));
  });
  if (SvmRange* const made = g_svm.add(p)) made->size.store(size, std::memory_order_relaxed);
}

void forget_svm(const void* p) noexcept { g_svm.remove(p); }

bool maybe_svm(const void* p) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(p);
  bool found = g_svm.overflowed();
  g_svm.for_each([&](const SvmRange& r) { found |= r.meets(at, at + 1); });
  return found;
}

}  // namespace gt::tracer
