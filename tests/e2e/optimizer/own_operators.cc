// A program with operators of its own, which put a header before each block: some for all types, some for one class.
// What they give is transferred. Prints how often they were called.
#include <cstdint>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include "tests/e2e/optimizer/link.h"

namespace {

constexpr uint64_t Ours = 0x6f75727361697265;
int g_news = 0, g_deletes = 0, g_pieces = 0;

void* with_header(size_t bytes) {
  auto* p = static_cast<uint64_t*>(std::malloc(bytes + 64));
  if (!p) throw std::bad_alloc();
  p[0] = Ours;
  return p + 8;
}
void without_header(void* p) {
  if (!p) return;
  auto* block = static_cast<uint64_t*>(p) - 8;
  check(block[0] == Ours, "the header");
  std::free(block);
}

struct Piece {
  char data[300'000];
  static void* operator new(size_t bytes) { return ++g_pieces, with_header(bytes); }
  static void operator delete(void* p) { without_header(p); }
};

}  // namespace

void* operator new(size_t bytes) { return ++g_news, with_header(bytes); }
void operator delete(void* p) noexcept { g_deletes += p != nullptr, without_header(p); }
void operator delete(void* p, size_t) noexcept { operator delete(p); }

int main() {
  Link link;
  const int before = g_news - g_deletes;
  for (unsigned i = 0; i < 10; ++i) {
    std::vector<char> vector(MiB + i * 1000);
    use(link, vector.data(), vector.size(), i);
    vector.resize(2 * MiB);
    use(link, vector.data(), vector.size(), i);
    auto* piece = new Piece;
    use(link, piece->data, sizeof piece->data, i);
    delete piece;
    auto* array = new (std::nothrow) int[MiB / 4];
    use(link, array, MiB, i);
    delete[] array;
  }
  std::printf("balanced %d, pieces %d\n", g_news - g_deletes == before, g_pieces);
}
