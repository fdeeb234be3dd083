#include "tracer/lib/ring_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gt::tracer {

namespace {

SpoolHeader* g_spool = nullptr;
char g_spool_path[256];
uint32_t g_segments = 0;  // that this process has mapped

// Reserves the memory of a ring or segment, so that a full file system is an error here and not a SIGBUS later.
bool back_with_memory(uint64_t at) {
  const int fd = open(g_spool_path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  const auto offset = static_cast<off_t>(at);
  int err;
  do {
    err = posix_fallocate(fd, offset, static_cast<off_t>(PageBytes + g_spool->ring_bytes));
  } while (err == EINTR);
  close(fd);
  return err == 0;
}

uint64_t segment_offset(uint32_t segment) {
  return spool_segment_offset(g_spool->ring_bytes, g_spool->ring_count, segment);
}
SegmentHeader* segment_header(uint32_t segment) {
  return reinterpret_cast<SegmentHeader*>(reinterpret_cast<uint8_t*>(g_spool) + segment_offset(segment));
}

bool take(SegmentHeader& segment) {
  uint32_t expected = 0;
  return segment.taken.load(std::memory_order_relaxed) == 0 && segment.taken.compare_exchange_strong(expected, 1);
}

// Any that is free among those used before, else a new one. 0: none.
uint32_t take_segment() {
  const uint64_t used = g_spool->segments_used.load(std::memory_order_acquire);
  for (uint32_t s = 1; s <= used && s <= g_segments; ++s) {
    if (take(*segment_header(s))) return s;
  }
  for (;;) {
    uint64_t next = g_spool->segments_used.load(std::memory_order_acquire);
    if (next >= g_segments) return 0;
    const auto segment = static_cast<uint32_t>(next + 1);
    if (!back_with_memory(segment_offset(segment))) return 0;
    const bool ours = take(*segment_header(segment));
    g_spool->segments_used.compare_exchange_strong(next, next + 1);
    if (ours) return segment;
  }
}

void* map(int fd, uint64_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  return at == MAP_FAILED ? nullptr : at;
}

// All of it, else (a limit of the process's address space) what its rings need.
SpoolHeader* map_spool(int fd) {
  SpoolHeader header;
  struct stat st {};
  if (fstat(fd, &st) != 0 || pread(fd, static_cast<void*>(&header), sizeof header, 0) != sizeof header) return nullptr;
  const auto bytes = static_cast<uint64_t>(st.st_size);
  const uint64_t rings = spool_bytes(header.ring_bytes, header.ring_count);
  const uint64_t all = spool_bytes(header.ring_bytes, uint64_t{header.ring_count} + header.segment_count);
  const bool fits = header.magic == SpoolMagic && header.version == SpoolVersion && header.ring_bytes >= PageBytes &&
                    (header.ring_bytes & (header.ring_bytes - 1)) == 0 && rings <= bytes;
  if (!fits) return nullptr;
  void* at = all <= bytes ? map(fd, all) : nullptr;
  g_segments = at ? header.segment_count : 0;
  if (!at) at = map(fd, rings);
  return static_cast<SpoolHeader*>(at);
}

}  // namespace

SpoolHeader* open_spool(const char* path) {
  if (std::strlen(path) >= sizeof g_spool_path) return nullptr;
  std::strcpy(g_spool_path, path);
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return nullptr;
  g_spool = map_spool(fd);
  close(fd);
  return g_spool;
}

RingHeader* ring_header(uint32_t index) {
  return reinterpret_cast<RingHeader*>(reinterpret_cast<uint8_t*>(g_spool) +
                                       spool_ring_offset(g_spool->ring_bytes, index));
}

int try_to_take_ring() {
  const uint64_t used = g_spool->rings_used.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < used && i < g_spool->ring_count; ++i) {
    RingState expected = RingState::Free;
    if (ring_header(i)->state.compare_exchange_strong(expected, RingState::Owned)) {
      return static_cast<int>(i);
    }
  }
  for (;;) {
    const uint64_t next = g_spool->rings_used.load(std::memory_order_acquire);
    if (next >= g_spool->ring_count) return -1;
    if (!back_with_memory(spool_ring_offset(g_spool->ring_bytes, next))) return -1;
    RingState expected = RingState::Free;
    const bool ours = ring_header(static_cast<uint32_t>(next))
                          ->state.compare_exchange_strong(expected, RingState::Owned);
    uint64_t used_before = next;  // a failed exchange writes here: somebody else has counted this ring already
    g_spool->rings_used.compare_exchange_strong(used_before, next + 1);
    if (ours) return static_cast<int>(next);
  }
}

// Only rings that were used have memory behind them: to look at another one on a full file system is a SIGBUS.
bool a_ring_has_ended() {
  const uint64_t used = g_spool->rings_used.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < used && i < g_spool->ring_count; ++i) {
    if (ring_header(i)->state.load(std::memory_order_relaxed) == RingState::Ended) return true;
  }
  return false;
}

bool go_on_in_segment(Ring& ring) {
  const uint32_t segment = take_segment();
  if (segment == 0) return false;
  SegmentHeader* const header = segment_header(segment);
  header->next.segment.store(0, std::memory_order_relaxed);
  ring.next->start.store(ring.position, std::memory_order_relaxed);
  ring.next->segment.store(segment, std::memory_order_release);
  ring.next = &header->next;
  ring.data = reinterpret_cast<uint8_t*>(header) + PageBytes;
  ring.segment_start = ring.position;
  ring.limit = ring.position + ring.mask + 1;
  return true;
}

}  // namespace gt::tracer
