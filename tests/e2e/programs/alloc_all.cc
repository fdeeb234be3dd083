// Calls every allocation function once, with a size of its own, and has the test library report.
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "tests/e2e/programs/check.h"

namespace {

void* volatile sink;  // the compiler must not pair and remove the calls
void* keep(void* p) { return sink = p, sink; }

void c_functions() {
  auto cfree = INTERPOSER(void (*)(void*), "cfree");
  void* p = keep(malloc(101));
  free(p);
  p = keep(calloc(3, 34));
  p = keep(realloc(p, 103));
  p = keep(reallocarray(p, 4, 26));
  cfree(p);
  keep(memalign(64, 105));
  keep(aligned_alloc(64, 128));
  void* out = nullptr;
  CHECK(posix_memalign(&out, 256, 107) == 0);
  keep(valloc(108));
  keep(pvalloc(4096));
}

void operators() {
  using std::align_val_t;
  using std::nothrow;
  void* p[8] = {};
  p[0] = keep(operator new(110));
  p[1] = keep(operator new[](111));
  p[2] = keep(operator new(112, nothrow));
  p[3] = keep(operator new[](113, nothrow));
  p[4] = keep(operator new(114, align_val_t(64)));
  p[5] = keep(operator new[](115, align_val_t(64)));
  p[6] = keep(operator new(116, align_val_t(128), nothrow));
  p[7] = keep(operator new[](117, align_val_t(128), nothrow));
  operator delete(p[0]);
  operator delete[](p[1]);
  operator delete(p[2], nothrow);
  operator delete[](p[3], nothrow);
  operator delete(p[4], align_val_t(64));
  operator delete[](p[5], align_val_t(64));
  operator delete(p[6], align_val_t(128), nothrow);
  operator delete[](p[7], align_val_t(128), nothrow);
  operator delete(keep(malloc(1)), 1);
  operator delete[](keep(malloc(1)), 1);
  operator delete(keep(memalign(64, 1)), 1, align_val_t(64));
  operator delete[](keep(memalign(64, 1)), 1, align_val_t(64));
}

void mappings() {
  constexpr int Prot = PROT_READ | PROT_WRITE, Flags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* a = mmap(nullptr, 4096, Prot, Flags, -1, 0);
  auto mmap64_too = reinterpret_cast<void* (*)(void*, size_t, int, int, int, off64_t)>(
      dlsym(RTLD_DEFAULT, "mmap64"));
  void* b = mmap64_too(nullptr, 8192, Prot, Flags, -1, 0);
  CHECK(a != MAP_FAILED && b != MAP_FAILED);
  b = mremap(b, 8192, 16384, MREMAP_MAYMOVE);
  CHECK(munmap(a, 4096) == 0 && munmap(b, 16384) == 0);
  keep(malloc(64 << 20));  // libc maps this itself: one malloc, no mmap
}

}  // namespace

int main() {
  auto reset = INTERPOSER(void (*)(), "count_alloc_reset");
  auto report = INTERPOSER(void (*)(int), "count_alloc_report");
  CHECK(reset && report);
  reset();
  c_functions();
  operators();
  mappings();
  report(STDOUT_FILENO);
}
