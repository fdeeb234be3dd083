// Programs that allocate where, when and how few others do, and transfer what they get.
//
//   odd_allocations WAY
//
// Each checks its own data and prints the same on every run.
#include <malloc.h>
#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "tests/e2e/optimizer/link.h"

namespace {

struct Block {
  void* p = nullptr;
  size_t bytes = 0, known = 0;  // so many bytes at the beginning have known contents
  unsigned seed = 0;

  void own(void* memory, size_t size, size_t fills, unsigned s) {
    check(memory != nullptr, "an allocation");
    *this = {memory, size, fills, s};
    fill(p, known, seed);
  }
  void make(size_t size, unsigned s) { own(std::malloc(size), size, 4096, s); }
  void drop() {
    if (p) check(filled(p, known, seed), "what a block keeps");
    std::free(p);
    p = nullptr;
  }
};

// --- In a signal handler that interrupts malloc and free themselves ---

constexpr int Signals = 3000;

Block g_kept;  // what the last signal left
volatile sig_atomic_t g_signals = 0;

void set_timer(int in_us) {
  const itimerval when{{0, 0}, {0, in_us}};
  check(::setitimer(ITIMER_REAL, &when, nullptr) == 0, "setitimer");
}

void on_signal(int) {
  const auto n = static_cast<unsigned>(g_signals);
  if (g_kept.p) g_kept.p = std::realloc(g_kept.p, 90'000 + n % 13 * 20'000);
  g_kept.drop();
  Block local;
  local.make(70'000 + n % 11 * 20'000, n);
  g_kept.make(80'000 + n % 7 * 30'000, n + 1);
  local.drop();
  g_signals = g_signals + 1;
  if (g_signals < Signals) set_timer(20 + g_signals % 97);
}

// Malloc and free until the handler has interrupted them often enough; then once more, undisturbed: a signal that comes
// while blocks are noted may have all forgotten that are known so far.
void be_interrupted(Block (&ring)[16]) {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  check(::sigaction(SIGALRM, &action, nullptr) == 0, "sigaction");
  set_timer(50);
  unsigned i = 0;
  const auto replace_next = [&] {
    Block& block = ring[i % 16];
    block.drop();
    block.make(66'000 + i * 7919 % 200'000, i);
    ++i;
  };
  while (g_signals < Signals) replace_next();
  for (int n = 0; n < 16; ++n) replace_next();
}

void use_all(Block (&ring)[16]) {
  g_kept.drop();
  Link link;
  for (Block& block : ring) {
    if (block.p) use(link, block.p, block.bytes, 5);
    std::free(block.p);
  }
}

extern "C" void* __libc_malloc(size_t);  // malloc may be a pool's

// From here on libc maps every block of `bytes` and more, one by one: what lies free in its heap is taken, for good.
void use_up_heap(size_t bytes) {
  constexpr size_t Mapped = 2;  // in the word before a block
  check(::mallopt(M_MMAP_THRESHOLD, static_cast<int>(bytes)) == 1, "mallopt");
  for (;;) {
    const auto block = reinterpret_cast<uintptr_t>(__libc_malloc(bytes));
    check(block != 0, "an allocation");
    if (*reinterpret_cast<const volatile size_t*>(block - sizeof(size_t)) & Mapped) break;
  }
}

void signals() {  // libc bears it: one thread, and blocks that it maps one by one
  use_up_heap(64'000);
  Block ring[16];
  be_interrupted(ring);
  use_all(ring);
}

void crowd() {  // libc does not bear it: for pools only
  Link link;
  std::atomic<bool> stop{false};
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  ::pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
  std::thread other([&] {
    Block block;
    for (unsigned i = 0; !stop; ++i) {
      block.make(100'000 + i % 5 * 50'000, i);
      if (i % 64 == 0) link.write(block.p, block.bytes);
      block.drop();
    }
  });
  ::pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
  Block ring[16];
  be_interrupted(ring);
  stop = true;
  other.join();
  use_all(ring);
}

// --- When threads and the process end ---

Link* g_link;
pthread_key_t g_key;
std::atomic<int> g_ended{0};

void use_and_free(void* p, unsigned seed) {
  use(*g_link, p, MiB / 2, seed);
  std::free(p);
}

void at_thread_end(void* p) {
  use_and_free(p, 1);
  if (++g_ended % 3 != 0) ::pthread_setspecific(g_key, std::malloc(MiB / 2));  // another round
}

struct ThreadLocal {
  void* p = std::malloc(MiB / 2);
  ~ThreadLocal() { use_and_free(std::realloc(p, MiB), 2); }
};
thread_local ThreadLocal t_local;

struct Static {
  const char* name;
  void* p = std::malloc(MiB / 2);  // before main
  ~Static() {  // the driver may be gone
    p = std::realloc(p, MiB);
    if (g_link) std::printf("%s ends: %d\n", name, filled(p, MiB / 2, 8));
    std::free(p);
  }
};
Static g_static{"a static object"};

void at_process_end() {
  use_and_free(std::calloc(1, MiB / 2), 4);
  std::puts("atexit");
}

void endings() {
  g_link = new Link;
  use(*g_link, g_static.p, MiB / 2, 7);
  check(::pthread_key_create(&g_key, at_thread_end) == 0, "pthread_key_create");
  for (int i = 0; i < 4; ++i)
    std::thread([] {
      use(*g_link, t_local.p, MiB / 2, 8);
      ::pthread_setspecific(g_key, std::malloc(MiB / 2));
    }).join();
  std::printf("%d blocks of threads\n", g_ended.load());
  check(std::atexit(at_process_end) == 0, "atexit");
}

// --- Allocators of the program's own ---

// Cuts one large block up; what is given back is given out first.
struct Slab {
  static constexpr size_t Piece = 128 << 10;
  char* base;
  std::vector<size_t> free_pieces;

  explicit Slab(size_t pieces) : base(static_cast<char*>(std::malloc(pieces * Piece))) {
    check(base != nullptr, "a slab");
    for (size_t i = pieces; i-- > 0;) free_pieces.push_back(i);
  }
  void* take() {
    const size_t i = free_pieces.back();
    free_pieces.pop_back();
    return base + i * Piece;
  }
  void give(void* p) { free_pieces.push_back(static_cast<size_t>(static_cast<char*>(p) - base) / Piece); }
};

void slab() {
  Link link;
  Slab slab(64);
  for (unsigned round = 0; round < 20; ++round) {
    void* pieces[5];
    for (unsigned i = 0; i < 5; ++i) use(link, pieces[i] = slab.take(), Slab::Piece, round + i);
    for (unsigned i = 0; i < 5; ++i) check(filled(pieces[i], Slab::Piece, round + i + 1), "what a piece keeps");
    for (void* p : pieces) slab.give(p);
  }
  slab.base = static_cast<char*>(std::realloc(slab.base, 128 * Slab::Piece));
  use(link, slab.base + 100 * Slab::Piece, Slab::Piece, 99);
  use(link, slab.base, 32 * Slab::Piece, 98);
  std::free(slab.base);
}

void break_memory() {  // the same addresses with other pages, again and again
  Link link;
  std::vector<char> zeros(MiB), got(MiB);
  for (unsigned i = 0; i < 20; ++i) {
    void* const p = ::sbrk(MiB);
    check(p != reinterpret_cast<void*>(-1), "sbrk");
    check(std::memcmp(p, zeros.data(), MiB) == 0, "zeros");
    link.write(p, MiB);
    link.read(got.data(), MiB);
    check(got == zeros, "zeros that were sent");
    use(link, p, MiB, i);
    if (::sbrk(0) == static_cast<char*>(p) + MiB) ::sbrk(-static_cast<intptr_t>(MiB));
  }
}

// --- Sizes, alignments and owners that change ---

struct Walk {
  std::mt19937 random{7};
  std::vector<Block> blocks = std::vector<Block>(32);

  size_t any_size() { return random() % 4 == 0 ? 1 + random() % MiB : 4 + random() % 100'000; }
  void own(Block& block, void* p, size_t bytes) {
    check(p != nullptr && ::malloc_usable_size(p) >= bytes, "malloc_usable_size");
    std::memset(p, 0x55, ::malloc_usable_size(p));
    block.own(p, bytes, bytes, static_cast<unsigned>(random()));
  }
  void make(Block& block) {
    const size_t bytes = any_size(), align = size_t{16} << random() % 18;
    void* p = nullptr;
    switch (random() % 4) {
      case 0:
        p = std::malloc(bytes);
        break;
      case 1:
        p = ::memalign(align, bytes);
        check(reinterpret_cast<uintptr_t>(p) % align == 0, "alignment");
        break;
      case 2:
        check(::posix_memalign(&p, align, bytes) == 0 && reinterpret_cast<uintptr_t>(p) % align == 0, "alignment");
        break;
      default:
        p = std::calloc(bytes, 1);
        for (size_t i = 0; i < bytes; ++i) check(static_cast<char*>(p)[i] == 0, "zeros");
    }
    own(block, p, bytes);
  }
  void resize(Block& block) {
    const size_t bytes = any_size();
    void* p = std::realloc(block.p, bytes);
    check(filled(p, bytes < block.bytes ? bytes : block.bytes, block.seed), "what realloc keeps");
    own(block, p, bytes);
  }
  void step(Link& link) {
    Block& block = blocks[random() % blocks.size()];
    if (!block.p) return make(block);
    switch (random() % 8) {
      case 0:
        return block.drop();
      case 1:
        return std::thread([&] { block.drop(); }).join();
      case 2:
        use(link, block.p, block.bytes, block.seed);
        return void(++block.seed);
      default:
        return resize(block);
    }
  }
};

void resizing() {
  Link link;
  Walk walk;
  for (int i = 0; i < 3000; ++i) walk.step(link);
  for (Block& block : walk.blocks) block.drop();
}

void sizes() {  // 20 large blocks one after the other, none of which fits where the last one was; 300 MiB at most
  Link link(MiB);
  for (unsigned i = 0; i < 20; ++i) {
    Block large, small;
    large.make((100 + 10 * i) * MiB, i);
    for (size_t at = 4096; at < large.bytes; at += 4096) static_cast<char*>(large.p)[at] = 1;
    small.make(MiB, i);
    use(link, large.p, MiB, i);
    std::free(large.p);
    small.drop();
  }
}

struct Way {
  const char* name;
  void (*run)();
};
constexpr Way Ways[] = {{"signals", signals}, {"crowd", crowd},        {"endings", endings},
                        {"slab", slab},       {"break", break_memory}, {"resizing", resizing},
                        {"sizes", sizes}};

}  // namespace

int main(int argc, char** argv) {
  for (const Way& way : Ways) {
    if (argc != 2 || std::strcmp(way.name, argv[1]) != 0) continue;
    way.run();
    std::printf("%s is well\n", way.name);
    return 0;
  }
  return 2;
}
