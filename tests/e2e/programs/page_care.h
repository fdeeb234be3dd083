// What the parts of page_care share: large blocks, and what the system says of their pages.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr size_t MiB = size_t{1} << 20, Huge = 2 * MiB, Page = 4096;

inline uintptr_t address(const void* p) { return reinterpret_cast<uintptr_t>(p); }
inline char* some(void* block) {
  if (!block || block == MAP_FAILED) std::exit(9);
  return static_cast<char*>(block);
}
inline char* block_of(size_t bytes) { return some(std::malloc(bytes)); }
// The pages that lie in the block as a whole.
inline char* first_page(char* block) { return block + (Page - address(block) % Page) % Page; }
inline void touch(volatile char* p, size_t bytes, size_t step) {
  for (size_t at = 0; at < bytes; at += step) p[at] = 1;
}
inline void fill(char* p, size_t bytes) { touch(p, bytes, 64); }
// Our helpers look once in some milliseconds.
inline void let_them_look() { usleep(50'000); }
inline void say(const char* what, size_t n) { std::printf("%s %zu\n", what, n); }
inline void say_memory(const char* what, size_t kib) { std::fprintf(stderr, "%s KiB: %zu\n", what, kib); }

// What the system says of the mappings there, in KiB.
inline size_t of_mappings(const char* key, const void* at, size_t bytes) {
  std::FILE* const file = std::fopen("/proc/self/smaps", "r");
  if (!file) std::exit(8);
  char line[512];
  bool here = false;
  size_t sum = 0;
  unsigned long begin, end;
  while (std::fgets(line, sizeof line, file)) {
    if (std::sscanf(line, "%lx-%lx ", &begin, &end) == 2)
      here = begin < address(at) + bytes && address(at) < end;
    else if (here && std::strncmp(line, key, std::strlen(key)) == 0)
      sum += std::strtoul(line + std::strlen(key), nullptr, 10);
  }
  std::fclose(file);
  return sum;
}
inline size_t in_memory(const void* at, size_t bytes) {
  std::vector<unsigned char> pages(bytes / Page);
  if (mincore(const_cast<void*>(at), bytes, pages.data()) != 0) return 0;
  return static_cast<size_t>(std::ranges::count_if(pages, [](unsigned char p) { return p & 1; }));
}
inline size_t now() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  unsigned long all = 0, resident = 0;
  if (!file || std::fscanf(file, "%lu %lu", &all, &resident) != 2) std::exit(8);
  std::fclose(file);
  return resident * (Page / 1024);
}

// page_loops.cc
void again();
void loops();
// page_faults.cc
void faults();
void later_faults();
void faults_first();
