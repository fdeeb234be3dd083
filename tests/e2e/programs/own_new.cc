// A program with operators of its own, incompatible with malloc: all forms must reach them. Prints
// how often.
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "tests/e2e/programs/check.h"

namespace {

constexpr uint64_t Ours = 0x6f75727361697265;
int news = 0, deletes = 0;
void* volatile sink;

}  // namespace

// A header before the block: a foreign delete would crash, a foreign new is found out by ours.
void* operator new(size_t size) {
  auto* p = static_cast<uint64_t*>(malloc(size + 16));
  if (!p) throw std::bad_alloc();
  p[0] = Ours;
  ++news;
  return p + 2;
}
void operator delete(void* p) noexcept {
  if (!p) return;
  auto* block = static_cast<uint64_t*>(p) - 2;
  CHECK(block[0] == Ours);
  ++deletes;
  free(block);
}
void operator delete(void* p, size_t) noexcept { operator delete(p); }

int main() {
  sink = new int(1);
  delete static_cast<int*>(sink);
  sink = new int[100];
  delete[] static_cast<int*>(sink);
  sink = new (std::nothrow) int[10];
  delete[] static_cast<int*>(sink);
  sink = new (std::nothrow) int;
  delete static_cast<int*>(sink);
  {
    std::string text(1000, 'x');
    std::vector<int> v(1000);
    auto p = std::make_shared<std::string>(text + "y");
  }
  CHECK(news == deletes);
  printf("own operators: %d\n", news);
}
