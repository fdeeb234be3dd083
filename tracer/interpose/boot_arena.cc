#include "tracer/interpose/boot_arena.h"

#include <sys/mman.h>

#include "tracer/interpose/raw_memory.h"

namespace gt::interpose {

alignas(64) unsigned char boot_first_chunk[BootChunkBytes];
constinit std::atomic<BootChunk*> boot_more_chunks{nullptr};

namespace {

constexpr size_t HeaderBytes = 16;
constexpr size_t MaxBytes = size_t{1} << 46;
constinit std::atomic<size_t> g_first_used{0};

uintptr_t aligned_after_header(uintptr_t at, size_t align) {
  return (at + HeaderBytes + align - 1) & ~(align - 1);
}

void* finish(uintptr_t block, size_t size) {
  *reinterpret_cast<size_t*>(block - HeaderBytes) = size;
  return reinterpret_cast<void*>(block);
}

// Claims `bytes`, which cover the block wherever it is aligned, from a position shared by threads.
template <class Position>
bool claim(std::atomic<Position>& position, Position end, size_t bytes, Position& at) {
  at = position.load(std::memory_order_relaxed);
  do {
    if (bytes > end - at) return false;
  } while (!position.compare_exchange_weak(at, at + bytes, std::memory_order_relaxed));
  return true;
}

void* from_new_chunk(size_t size, size_t align, size_t bytes) {
  const size_t chunk_bytes = (bytes + sizeof(BootChunk) + (256 << 10)) & ~size_t{4095};
  void* memory =
      raw_mmap(nullptr, chunk_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* chunk = new (memory) BootChunk;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory) + sizeof(BootChunk);
  chunk->end = reinterpret_cast<uintptr_t>(memory) + chunk_bytes;
  chunk->free.store(begin + bytes, std::memory_order_relaxed);
  chunk->next = boot_more_chunks.load(std::memory_order_relaxed);
  while (!boot_more_chunks.compare_exchange_weak(chunk->next, chunk, std::memory_order_release)) {
  }
  return finish(aligned_after_header(begin, align), size);
}

}  // namespace

void* boot_allocate(size_t size, size_t align) {
  if (align < HeaderBytes) align = HeaderBytes;
  if (size > MaxBytes || align > MaxBytes) return nullptr;
  const size_t bytes = (HeaderBytes + align + size + 15) & ~size_t{15};
  size_t offset = 0;
  if (claim(g_first_used, BootChunkBytes, bytes, offset)) {
    return finish(
        aligned_after_header(reinterpret_cast<uintptr_t>(boot_first_chunk) + offset, align), size);
  }
  for (BootChunk* c = boot_more_chunks.load(std::memory_order_acquire); c; c = c->next) {
    uintptr_t at = 0;
    if (claim(c->free, c->end, bytes, at)) return finish(aligned_after_header(at, align), size);
  }
  return from_new_chunk(size, align, bytes);
}

bool boot_owns_more(const void* p) {
  const auto at = reinterpret_cast<uintptr_t>(p);
  for (BootChunk* c = boot_more_chunks.load(std::memory_order_acquire); c; c = c->next) {
    if (at >= reinterpret_cast<uintptr_t>(c) && at < c->end) return true;
  }
  return false;
}

size_t boot_size(const void* p) {
  return *reinterpret_cast<const size_t*>(reinterpret_cast<uintptr_t>(p) - HeaderBytes);
}

}  // namespace gt::interpose
