// The rare records: those with a path or with frames.
#include "tracer/lib/memory_client.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tracer/lib/frames.h"

namespace gt::tracer {

namespace {

// Several words, then bytes that are padded with zeroes, at least one.
void write_with_text(RecordType type, uint16_t fn, std::span<const uint64_t> words, const char* text, size_t length) {
  Ring* ring = this_ring();
  if (!ring) return;
  const size_t padded = length == 0 ? 0 : (length + 8) & ~size_t{7};
  const auto bytes = static_cast<uint32_t>(sizeof(RecordHeader) + words.size_bytes() + padded);
  uint8_t* at = reserve(*ring, type, fn, bytes, ticks());
  if (!at) return;
  std::memcpy(at, words.data(), words.size_bytes());
  std::memset(at + words.size_bytes(), 0, padded);
  std::memcpy(at + words.size_bytes(), text, length);
  commit(*ring, bytes);
}

}  // namespace

__attribute__((noinline)) void MemoryClient::record_frames(const void* site) {
  Ring* ring = this_ring();
  if (!ring) return;
  uint64_t frames[MaxFrames];
  const Stack stack{ring->header->stack_low, ring->header->stack_high};
  const size_t n = find_frames(site, stack, frames);
  if (n > 0) write_with_text(RecordType::Frames, 0, std::span(frames, n), "", 0);
}

void MemoryClient::record_mapping(Fn fn, const void* site, const uint64_t (&words)[MappingWords]) {
  uint64_t all[1 + MappingWords] = {word(site)};
  std::memcpy(all + 1, words, sizeof words);
  const uint64_t flags = words[3], made = words[MappingWords - 1];
  char path[4096];
  ssize_t length = 0;
  if (made != 0 && !(flags & MAP_ANONYMOUS)) {
    const int saved_errno = errno;
    char link[32];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", static_cast<int>(words[4]));
    length = readlink(link, path, sizeof path);
    errno = saved_errno;
  }
  write_with_text(RecordType::Allocate, static_cast<uint16_t>(fn), all, path,
                  length > 0 ? static_cast<size_t>(length) : 0);
}

}  // namespace gt::tracer
