// Allocates with every function, small blocks and large ones, from several threads, with resizes over the limit of
// gtrace run --no-memory-detail in both directions: tests/e2e/counted_memory.py knows from a log what each call was.
// No block is near the limit of 4096 bytes. With --forever it goes on until it is killed.
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <wchar.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "microbench/apps/harness.h"

using namespace gt::apps;

namespace {

constexpr int Threads = 4, Rounds = 100, Generations = 15;
constexpr size_t Small = 100, Large = 9000;

void* volatile g_seen;  // so that no pair of calls is left out
template <class T>
T* seen(T* p) {
  g_seen = const_cast<void*>(static_cast<const void*>(p));
  return p;
}

void resizes() {
  void* p = seen(std::malloc(Small));
  p = seen(std::realloc(p, 2 * Small));
  p = seen(std::realloc(p, Large));
  p = seen(std::realloc(p, 3 * Large));
  p = seen(std::realloc(p, 300));
  p = seen(reallocarray(p, 7, 30));
  p = seen(reallocarray(p, 2, Large));
  p = seen(std::realloc(p, SIZE_MAX / 4));  // fails: what there was stays
  if (!p) p = seen(std::realloc(nullptr, 40));
  std::free(p);
}

void aligned() {
  for (const size_t size : {Small, Large}) {
    void* p = nullptr;
    if (posix_memalign(&p, 256, size) == 0) std::free(seen(p));
    std::free(seen(aligned_alloc(64, size / 64 * 64)));
    std::free(seen(memalign(32, size)));
    ::operator delete(seen(::operator new(size)));
    ::operator delete[](seen(::operator new[](size)));
    ::operator delete(seen(::operator new(size)), size);
    std::free(seen(std::calloc(size, 1)));
  }
}

void aligned_new() {
  for (const size_t size : {Small, Large})
    ::operator delete(seen(::operator new(size, std::align_val_t(64))), std::align_val_t(64));
}

void rare() {
  std::free(seen(std::malloc(0)));
  void* volatile nothing = nullptr;
  std::free(nothing);
  std::free(seen(std::malloc(SIZE_MAX / 4)));
  const std::string text(Large, 'x');
  std::free(seen(strdup("a short one")));
  std::free(seen(strdup(text.c_str())));
  std::free(seen(strndup(text.c_str(), 20)));
  std::free(seen(wcsdup(L"wide")));
  for (const size_t size : {Small, Large}) {
    void* const p = seen(std::malloc(size));
    if (malloc_usable_size(p) < size) std::abort();
    std::free(p);
  }
  void* const pages = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(seen(pages), 4096);
}

// Gives the blocks that it leaves for another thread to free.
void* thread(void*) {
  auto* const left = new std::vector<void*>;
  for (int i = 0; i < Rounds; ++i) {
    std::free(seen(std::malloc(static_cast<size_t>(1 + 37 * i % 2000))));
    if (i % 10 == 0) left->push_back(seen(std::malloc(i % 20 == 0 ? Small : Large)));
  }
  return left;
}

void threads() {
  pthread_t all[Threads];
  for (pthread_t& t : all) pthread_create(&t, nullptr, thread, nullptr);
  for (const pthread_t t : all) {
    void* result = nullptr;
    pthread_join(t, &result);
    auto* const left = static_cast<std::vector<void*>*>(result);
    for (void* p : *left) std::free(p);
    delete left;
  }
}

}  // namespace

int main(int argc, char** argv) {
  bool forever = false, also_aligned_new = false;
  const Option options[] = {{"--forever", "until it is killed", nullptr, &forever},
                            {"--aligned-new", "also what C++ may make of other calls", nullptr, &also_aligned_new}};
  parse(argc, argv, "Memory calls of every kind.", options);
  Device device = open_device();
  const double begin = now_s();
  resizes();
  aligned();
  if (also_aligned_new) aligned_new();
  rare();
  for (int i = 0; i < Generations; ++i) threads();  // rings go from thread to thread
  for (uint64_t i = 0; forever; ++i) {
    std::free(seen(std::malloc(16 + i % 100)));
    if (i == 1'000'000) std::printf("a million\n"), std::fflush(stdout);
  }
  close_device(device);
  return finish("alloc_known", true, 0, now_s() - begin);
}
