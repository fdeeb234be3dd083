// Contents that programs send and look at again. Tests run such a program hundreds of times: bytes are made and looked
// at many at once, or most of a test would be that.
#pragma once

#include <string.h>

// The i-th is i * 7 + i / 512 + seed.
static inline void fill(unsigned char* p, size_t n, unsigned seed) {
  enum { Row = 512 };
  for (size_t row = 0; row * Row < n; ++row) {
    unsigned char* const at = p + row * Row;
    const size_t bytes = n - row * Row < Row ? n - row * Row : Row;
    const unsigned char first = (unsigned char)(row + seed);
    for (size_t i = 0; i < bytes; ++i) at[i] = (unsigned char)(first + (unsigned char)i * 7);
  }
}

static inline unsigned long sum(const unsigned char* p, size_t n) {
  unsigned long h = 14695981039346656037u, word;
  size_t i = 0;
  for (; i + sizeof word <= n; i += sizeof word) {
    memcpy(&word, p + i, sizeof word);
    h = (h ^ word) * 1099511628211u;
    h ^= h >> 32;
  }
  for (; i < n; ++i) h = (h ^ p[i]) * 1099511628211u;
  return h;
}
