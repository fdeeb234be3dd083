// What the pool asks of the system, as functions that tests replace: to see what is asked, and to refuse it.
// None allocates; all leave errno as the call did. Thread safety: the functions; replacing them is not safe.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace gt::opt {

constexpr int MostNodes = 1024;
struct NodeMask {
  unsigned long words[MostNodes / (8 * sizeof(unsigned long))] = {};
  void add(int node) { words[node / 64] |= 1ul << (node % 64); }  // REQUIRES: 0 <= node < MostNodes
};

constexpr int NoKey = -1;  // as pkey_mprotect has it
struct SystemMemory {
  void* (*map)(size_t bytes, int protection);  // private, zero, not reserved; MAP_FAILED
  int (*protect)(void* at, size_t bytes, int protection, int key);  // NoKey: mprotect
  int (*advise)(void* at, size_t bytes, int advice);
  int (*lock)(const void* at, size_t bytes);
  int (*unlock)(const void* at, size_t bytes);
  int (*bind)(void* at, size_t bytes, int policy, const NodeMask* nodes);  // mbind
  int (*make_file)(size_t bytes);  // of memory, zero, nothing of it taken yet, never to shrink; -1
  // In place of what is mapped there, from the file's `offset` on; `flags`: MAP_SHARED or MAP_PRIVATE.
  bool (*map_file)(void* at, size_t bytes, int protection, int flags, int file, size_t offset);
  bool (*move)(void* from, void* to, size_t bytes);  // a whole mapping, in place of what is mapped there
  void* (*remap)(void* at, size_t bytes, size_t new_bytes, int flags, void* to);
  void (*unmap)(void* at, size_t bytes);
};
extern SystemMemory system_memory;

}  // namespace gt::opt
