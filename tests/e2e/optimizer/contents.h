// Contents that programs send and look at again. Tests run such a program hundreds of times: bytes are made and looked
// at many at once, or most of a test would be that.
#pragma once

#include <string.h>

// The i-th is i * 7 + i / 512 + seed: each row of 512 is the one before it, plus one.
static inline void fill(unsigned char* p, size_t n, unsigned seed) {
  enum { Row = 512 };
  for (size_t i = 0; i < n && i < Row; ++i) p[i] = (unsigned char)(seed + i * 7);
  for (size_t row = Row; row < n; row += Row) {
    const size_t bytes = n - row < Row ? n - row : Row;
    const unsigned char* const before = p + row - Row;
    for (size_t i = 0; i < bytes; ++i) p[row + i] = (unsigned char)(before[i] + 1);
  }
}

// Of four parts side by side: a multiplication waits for the one before it.
static inline unsigned long sum(const unsigned char* p, size_t n) {
  enum { Parts = 4 };
  unsigned long parts[Parts] = {14695981039346656037u, 1, 2, 3}, word;
  size_t i = 0;
  for (; i + Parts * sizeof word <= n; i += Parts * sizeof word)
    for (int part = 0; part < Parts; ++part) {
      memcpy(&word, p + i + (size_t)part * sizeof word, sizeof word);
      parts[part] = (parts[part] ^ word) * 1099511628211u;
      parts[part] ^= parts[part] >> 32;
    }
  unsigned long h = parts[0];
  for (int part = 1; part < Parts; ++part) h = (h ^ parts[part]) * 1099511628211u;
  for (; i < n; ++i) h = (h ^ p[i]) * 1099511628211u;
  return h;
}
