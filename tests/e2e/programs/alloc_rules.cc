// What the C and C++ standards promise about allocation. Must print "ok", injected or not.
#include <malloc.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <new>

#include "tests/e2e/programs/check.h"

namespace {

volatile size_t Huge = SIZE_MAX / 2;
void* volatile sink;
void* keep(void* p) { return sink = p, sink; }
bool aligned(void* p, size_t to) { return reinterpret_cast<uintptr_t>(p) % to == 0; }

void errno_is_kept() {
  errno = 77;
  void* p = keep(malloc(100));
  p = keep(realloc(p, 100000));
  free(p);
  free(keep(calloc(10, 10)));
  CHECK(errno == 77);
  CHECK(keep(malloc(Huge)) == nullptr && errno == ENOMEM);
  errno = 0;
  CHECK(keep(calloc(Huge, 16)) == nullptr && errno == ENOMEM);
  errno = 0;
  CHECK(keep(reallocarray(nullptr, Huge, 16)) == nullptr && errno == ENOMEM);
  errno = 0;
  CHECK(mmap(nullptr, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
        errno == EINVAL);
}

void calloc_is_zero() {
  for (size_t n = 1; n < 300000; n = n * 3 + 1) {
    auto* dirty = static_cast<unsigned char*>(keep(malloc(n)));
    std::memset(dirty, 0xee, n);
    free(dirty);
    auto* p = static_cast<unsigned char*>(keep(calloc(1, n)));
    for (size_t i = 0; i < n; ++i) CHECK(p[i] == 0);
    free(p);
  }
}

void realloc_keeps_contents() {
  unsigned char* p = nullptr;
  size_t known = 0;
  for (size_t n : {10, 100, 5000, 300000, 40, 8000000, 7, 7000}) {
    p = static_cast<unsigned char*>(keep(realloc(p, n)));
    CHECK(p != nullptr && malloc_usable_size(p) >= n);
    for (size_t i = 0; i < known && i < n; ++i) CHECK(p[i] == static_cast<unsigned char>(i * 7));
    for (size_t i = 0; i < n; ++i) p[i] = static_cast<unsigned char>(i * 7);
    known = n;
  }
  CHECK(keep(realloc(p, Huge)) == nullptr);  // and p lives on
  CHECK(p[0] == 0 && p[6] == 42);
  CHECK(keep(realloc(p, 0)) == nullptr);
}

void alignments() {
  void* p = reinterpret_cast<void*>(0x77);
  CHECK(posix_memalign(&p, 3, 10) == EINVAL && posix_memalign(&p, 4, 10) == EINVAL &&
        posix_memalign(&p, 24, 10) == EINVAL);
  CHECK(posix_memalign(&p, 64, Huge) == ENOMEM && p == reinterpret_cast<void*>(0x77));
  for (size_t a = 8; a <= 1 << 16; a *= 2) {
    CHECK(posix_memalign(&p, a, 100) == 0 && aligned(p, a));
    free(p);
    p = keep(memalign(a, 100));
    CHECK(aligned(p, a));
    free(p);
    p = keep(operator new(100, std::align_val_t(a)));
    CHECK(aligned(p, a));
    operator delete(p, std::align_val_t(a));
  }
  CHECK(aligned(keep(valloc(1)), 4096) && aligned(keep(pvalloc(1)), 4096));
  CHECK(malloc_usable_size(nullptr) == 0);
  void* null = nullptr;
  free(null);
  operator delete(null);
}

int handler_calls = 0;
void give_up() {
  if (++handler_calls == 3) std::set_new_handler(nullptr);
}
void throw_itself() {
  ++handler_calls;
  throw std::bad_alloc();
}

template <class Call>
bool throws_bad_alloc(Call call) {
  try {
    keep(call());
  } catch (const std::bad_alloc&) {
    return std::uncaught_exceptions() == 0;
  }
  return false;
}

void failing_new() {
  using std::nothrow;
  CHECK(throws_bad_alloc([] { return operator new(Huge); }));
  CHECK(throws_bad_alloc([] { return operator new[](Huge); }));
  CHECK(throws_bad_alloc([] { return operator new(Huge, std::align_val_t(64)); }));
  CHECK(throws_bad_alloc([] { return new char[Huge]; }));
  CHECK(keep(operator new(Huge, nothrow)) == nullptr &&
        keep(operator new[](Huge, nothrow)) == nullptr);
  CHECK(keep(operator new(Huge, std::align_val_t(64), nothrow)) == nullptr);
  std::set_new_handler(give_up);
  CHECK(throws_bad_alloc([] { return operator new(Huge); }));
  CHECK(handler_calls == 3);
  handler_calls = 0;
  std::set_new_handler(give_up);
  CHECK(keep(operator new(Huge, nothrow)) == nullptr && handler_calls == 3);
  handler_calls = 0;
  std::set_new_handler(throw_itself);
  CHECK(throws_bad_alloc([] { return operator new(Huge); }) && handler_calls == 1);
  CHECK(keep(operator new(Huge, nothrow)) == nullptr && handler_calls == 2 &&
        std::uncaught_exceptions() == 0);
  std::set_new_handler(nullptr);
  void* p = keep(operator new(0));
  CHECK(p != nullptr);
  operator delete(p);
}

}  // namespace

int main() {
  errno_is_kept();
  calloc_is_zero();
  realloc_keeps_contents();
  alignments();
  failing_new();
  auto pool_requests = INTERPOSER(unsigned (*)(), "pool_requests");
  CHECK(!pool_requests || pool_requests() > 20);
  puts("ok");
}
