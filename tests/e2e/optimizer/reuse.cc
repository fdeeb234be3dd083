// Programs that transfer the same memory again and again, and free it, resize it and allocate it anew in between.
//
//   reuse SHAPE
//
// Each checks its own data and prints what it saw. tests/e2e/reuse.py knows how many transfers each shape makes.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/optimizer/link.h"

namespace {

// --- The shapes ---

void same() {  // one block, 30 transfers of all and of parts
  Link link;
  auto* p = static_cast<char*>(std::malloc(MiB));
  for (unsigned i = 0; i < 10; ++i) use(link, p + 1000 * i, MiB - 1000 * 10, i);
  std::printf("references %u\n", link.references());
  std::free(p);
}

void anew() {  // 40 blocks, most of them at the same address
  Link link;
  for (unsigned i = 0; i < 40; ++i) {
    const size_t bytes = 300'000 + i % 4 * 100'000;
    void* p = std::malloc(bytes);
    use(link, p, bytes, i);
    std::free(p);
  }
}

void resize() {  // 12 sizes of one block
  Link link;
  void* p = nullptr;
  for (unsigned i = 1; i <= 12; ++i) {
    const size_t bytes = i % 3 == 0 ? 100'000 : i * 200'000;
    p = std::realloc(p, bytes);
    if (i > 1 && i % 3 != 0) check(filled(p, 100'000, i), "what realloc keeps");
    use(link, p, bytes, i);
  }
  check(std::realloc(p, 0) == nullptr, "realloc to nothing");
}

void kinds() {  // 7 functions that give blocks
  Link link;
  void* aligned = nullptr;
  check(::posix_memalign(&aligned, 4096, MiB) == 0, "posix_memalign");
  void* const blocks[] = {std::malloc(MiB), std::calloc(MiB, 1), std::aligned_alloc(64, MiB), aligned,
                          ::reallocarray(nullptr, 1024, 1024)};
  unsigned n = 0;
  for (void* p : blocks) use(link, p, MiB, ++n);
  for (void* p : blocks) std::free(p);
  auto* chars = new char[MiB];
  use(link, chars, MiB, ++n);
  delete[] chars;
  std::vector<char> vector(MiB);
  use(link, vector.data(), vector.size(), ++n);
}

void sparse() {  // a block of 256 MiB of which a part is used; the rest is never touched
  Link link;
  auto* p = static_cast<char*>(std::malloc(256 * MiB));
  for (unsigned i = 0; i < 4; ++i) use(link, p + 100 * MiB, MiB, i);
  std::free(p);
}

void others() {  // memory whose end we would not see; small blocks; ranges beyond a block
  Link link;
  char local[200'000];
  use(link, local, sizeof local, 2);
  void* mapped = ::mmap(nullptr, MiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  use(link, mapped, MiB, 3);
  ::munmap(mapped, MiB);
  void* small = std::malloc(60'000);
  use(link, small, 60'000, 4);
  std::free(small);
}

unsigned g_initialized[100'000] = {1};
char g_small[60'000], g_zero[MiB], g_halves[4 * MiB];
alignas(4096) char g_remapped[MiB];
extern const char g_constant[100'000];
const char g_constant[100'000] = {1};

void statics() {  // static data: a block is what is transferred
  Link link;
  use(link, g_initialized, sizeof g_initialized, 1);
  use(link, g_zero, sizeof g_zero, 2);
  use(link, g_small, sizeof g_small, 3);
  for (int i = 0; i < 3; ++i) link.write(g_constant, sizeof g_constant);
  use(link, g_halves, 2 * MiB, 4);
  use(link, g_halves + MiB, 2 * MiB, 5);
  use(link, g_halves, 3 * MiB, 6);
  use(link, g_remapped, MiB, 7);
  std::printf("references %u\n", link.references());
}

void remapped() {  // a mapping over static data: other pages, and no static data any more
  Link link;
  use(link, g_remapped, MiB, 1);
  use(link, g_zero, MiB, 2);
  constexpr int Flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  check(::mmap(g_remapped + 8192, 100, PROT_READ | PROT_WRITE, Flags, -1, 0) != MAP_FAILED, "mmap");
  std::vector<char> got(MiB, 'x');
  link.write(g_remapped, MiB);
  link.read(got.data(), MiB);
  check(std::memcmp(got.data(), g_remapped, MiB) == 0, "comparison");
  check(g_remapped[8192] == 0 && g_remapped[8192 + 4095] == 0, "zeros");
  use(link, g_remapped, MiB, 3);
  use(link, g_halves, MiB, 4);
  use(link, g_zero, MiB, 5);  // this one is not touched by it
}

void threads() {  // 4 threads of 30 blocks
  const Link first;  // a driver may not like to be started by several threads at once
  std::vector<std::thread> all;
  for (unsigned t = 0; t < 4; ++t)
    all.emplace_back([t] {
      Link link;
      for (unsigned i = 0; i < 30; ++i) {
        const size_t bytes = 70'000 + (i * 7 + t) % 10 * 40'000;
        void* p = std::malloc(bytes);
        use(link, p, bytes, 100 * t + i);
        std::free(p);
      }
    });
  for (std::thread& t : all) t.join();
}

void forks() {  // the child frees, allocates and ends; the parent goes on
  Link link;
  void* p = std::malloc(MiB);
  use(link, p, MiB, 1);
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    bool good = filled(p, MiB, 2);
    std::free(p);
    p = std::malloc(MiB);
    fill(p, MiB, 9);
    good = good && filled(p, MiB, 9);
    std::free(p);
    std::_Exit(good ? 0 : 1);
  }
  int status = 0;
  check(::waitpid(child, &status, 0) == child && status == 0, "the child");
  use(link, p, MiB, 3);
  std::free(p);
}

void CL_CALLBACK free_block(cl_mem, void* p) { std::free(p); }
std::atomic<bool> g_called{false};
void CL_CALLBACK free_after(cl_event, cl_int, void* p) {
  std::free(p);
  g_called = true;
}

void callbacks() {  // 20 blocks are freed inside the driver, 20 on its thread
  Link link;
  cl_int err = CL_SUCCESS;
  for (unsigned i = 0; i < 20; ++i) {
    void* p = std::malloc(MiB);
    use(link, p, MiB, i);
    cl_mem other = clCreateBuffer(link.context, CL_MEM_READ_WRITE, 16, nullptr, &err);
    check(clSetMemObjectDestructorCallback(other, free_block, p) == CL_SUCCESS, "clSetMemObjectDestructorCallback");
    clReleaseMemObject(other);

    p = std::malloc(MiB);
    use(link, p, MiB, 100 + i);
    cl_event event = nullptr;
    check(clEnqueueMarkerWithWaitList(link.queue, 0, nullptr, &event) == CL_SUCCESS, "a marker");
    g_called = false;
    check(clSetEventCallback(event, CL_COMPLETE, free_after, p) == CL_SUCCESS, "clSetEventCallback");
    clFinish(link.queue);
    while (!g_called) ::usleep(100);
    clReleaseEvent(event);
  }
}

void pages() {  // the block's pages are given back; afterwards it is not trusted
  Link link;
  void* p = std::aligned_alloc(4096, MiB);
  use(link, p, MiB, 1);
  check(::madvise(p, MiB, MADV_DONTNEED) == 0, "madvise");
  std::vector<char> zeros(MiB), got(MiB, 'x');
  link.write(p, MiB);
  link.read(got.data(), MiB);
  check(got == zeros, "zeros");
  use(link, p, MiB, 2);
  std::free(p);
}

// A library beside this program that is bound to libc past whoever is preloaded.
void* deep_library() {
  char path[4096] = {};
  check(::readlink("/proc/self/exe", path, sizeof path - 20) > 0, "readlink");
  std::strcpy(std::strrchr(path, '/') + 1, "libdeep_frees.so");
  void* library = ::dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
  check(library != nullptr, path);
  return library;
}

void deep() {  // blocks are resized and freed by a library that is bound past us
  Link link;
  void* p = std::malloc(MiB);
  use(link, p, MiB, 1);
  void* const library = deep_library();
  const auto deep_free = reinterpret_cast<void (*)(void*)>(::dlsym(library, "deep_free"));
  const auto deep_realloc = reinterpret_cast<void* (*)(void*, size_t)>(::dlsym(library, "deep_realloc"));
  use(link, p, MiB, 2);
  for (unsigned i = 0; i < 10; ++i) {
    deep_free(p);
    use(link, p = std::malloc(MiB), MiB, i);
    p = deep_realloc(p, 2 * MiB);
    check(filled(p, MiB, i + 1), "what realloc keeps");
    use(link, p, 2 * MiB, i);  // libc gave it past us
  }
  deep_free(p);
}

void contexts() {  // a block outlives 3 contexts, and is pinned in each
  void* p = std::malloc(MiB);
  for (unsigned i = 0; i < 3; ++i) {
    Link link;
    use(link, p, MiB, i);
    std::printf("references %u\n", link.references());
  }
  std::free(p);
}

std::vector<char> g_last;

void at_exit() {  // a pinned block is freed after the driver may be gone
  static Link link;
  g_last.resize(MiB);
  use(link, g_last.data(), MiB, 1);
}

struct Shape {
  const char* name;
  void (*run)();
};
constexpr Shape Shapes[] = {{"same", same},         {"anew", anew},         {"resize", resize},
                            {"kinds", kinds},       {"others", others},     {"threads", threads},   {"sparse", sparse},
                            {"statics", statics},   {"remapped", remapped},
                            {"forks", forks},       {"callbacks", callbacks}, {"pages", pages},
                            {"deep", deep},         {"contexts", contexts}, {"at_exit", at_exit}};

}  // namespace

int main(int argc, char** argv) {
  for (const Shape& shape : Shapes) {
    if (argc != 2 || std::strcmp(shape.name, argv[1]) != 0) continue;
    shape.run();
    std::printf("%s is well\n", shape.name);
    return 0;
  }
  return 2;
}
