// Programs that change pages of their large blocks by themselves, between transfers of them.
//
//   page_calls SHAPE...
//
// All of it is legal for pages inside a block of malloc's of this size, and what they hold afterwards is known. Each
// shape prints what it saw.
#include <fcntl.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/optimizer/link.h"

namespace {

constexpr size_t Page = 4096, Bytes = 3 * MiB;
constexpr int WipeOnFork = 18;

// The one place of allocation that a profile names.
__attribute__((noinline)) char* make_block() {
  auto* const p = static_cast<char*>(std::malloc(Bytes));
  check(p != nullptr, "malloc");
  return p;
}

char* first_page(char* block) { return block + (Page - reinterpret_cast<uintptr_t>(block) % Page) % Page; }

struct Block {
  Link link;
  char* all = make_block();
  char* pages = first_page(all) + Page;  // some pages inside of it
  size_t bytes = MiB;

  // It was transferred before, so that whatever is done for its transfers has been done.
  Block() {
    for (unsigned i = 0; i < 4; ++i) use(link, all, Bytes, i);
  }
  ~Block() { std::free(all); }

  // How many bytes at the device are not as they are here after a write, and here as they are there after a read.
  void print(const char* what) {
    std::vector<char> seen(Bytes);
    std::string wrong;
    for (const bool blocking : {true, false}) {
      link.write(all, Bytes, blocking);
      link.read(seen.data(), Bytes);
      wrong += std::memcmp(seen.data(), all, Bytes) == 0 ? " there" : " NOT there";
    }
    fill(seen.data(), Bytes, 77);
    link.write(seen.data(), Bytes);
    link.read(all, Bytes);
    wrong += std::memcmp(seen.data(), all, Bytes) == 0 ? " and back" : " and NOT back";
    std::printf("%s:%s\n", what, wrong.c_str());
  }
};

size_t bytes_that_are(const char* p, size_t bytes, char value) {
  size_t n = 0;
  for (size_t i = 0; i < bytes; ++i) n += p[i] == value;
  return n;
}

void advise(char* p, size_t bytes, int advice, const char* what) {
  errno = 0;
  const int result = ::madvise(p, bytes, advice);
  std::printf("%s: %d %d\n", what, result, errno);
}

// --- Shapes ---

void dropped() {
  Block b;
  for (int i = 0; i < 3; ++i) {
    std::memset(b.all, 5, Bytes);
    b.link.write(b.all, Bytes);
    advise(b.pages, b.bytes, MADV_DONTNEED, "MADV_DONTNEED");
    std::printf("zeros %zu, others %zu\n", bytes_that_are(b.pages, b.bytes, 0), bytes_that_are(b.all, Bytes, 5));
    b.print("after it");
  }
}

void freed() {  // which pages are zeros is the system's choice, until they are written
  Block b;
  std::memset(b.all, 5, Bytes);
  advise(b.pages, b.bytes, MADV_FREE, "MADV_FREE");
  std::memset(b.pages, 6, b.bytes);
  std::printf("sixes %zu, fives %zu\n", bytes_that_are(b.pages, b.bytes, 6), bytes_that_are(b.all, Bytes, 5));
  b.print("after it");
}

void refused() {
  Block b;
  std::memset(b.all, 5, Bytes);
  advise(b.pages, b.bytes, MADV_REMOVE, "MADV_REMOVE of memory without a file");
  advise(b.pages + 1, b.bytes, MADV_DONTNEED, "MADV_DONTNEED of half a page");
  advise(b.pages, b.bytes, 12345, "no advice");
  std::printf("munmap of half a page: %d\n", ::munmap(b.pages + 1, Page));
  std::printf("mprotect of half a page: %d\n", ::mprotect(b.pages + 1, Page, PROT_READ));
  std::printf("fives %zu\n", bytes_that_are(b.all, Bytes, 5));
  b.print("after it");
}

Block* watched = nullptr;
int faults = 0;
void open_page(int, siginfo_t* info, void*) {
  auto* const at = static_cast<char*>(info->si_addr);
  const bool known = at >= watched->pages && at < watched->pages + watched->bytes;
  if (!known) return static_cast<void>(::signal(SIGSEGV, SIG_DFL));
  char* const page = at - reinterpret_cast<uintptr_t>(at) % Page;
  const bool hidden = watched->bytes == 2 * Page;  // those have contents only when they are opened
  ::mprotect(page, Page, PROT_READ | PROT_WRITE);
  if (hidden) std::memset(page, 9, Page);
  ++faults;
}
void handle_faults() {
  struct sigaction action = {};
  action.sa_sigaction = open_page;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  check(::sigaction(SIGSEGV, &action, nullptr) == 0, "sigaction");
}

void protect() {  // write watches, and pages that appear when they are read
  Block b;
  watched = &b;
  handle_faults();
  std::memset(b.all, 5, Bytes);
  check(::mprotect(b.pages, b.bytes, PROT_READ) == 0, "mprotect");
  std::printf("fives %zu\n", bytes_that_are(b.all, Bytes, 5));
  b.print("watched");
  std::printf("faults %d\n", faults);
  faults = 0;
  b.bytes = 2 * Page;
  check(::mprotect(b.pages, b.bytes, PROT_NONE) == 0, "mprotect");
  b.link.write(b.all, Bytes);
  std::vector<char> seen(Bytes);
  b.link.read(seen.data(), Bytes);
  std::printf("nines %zu, faults %d\n", bytes_that_are(seen.data() + (b.pages - b.all), b.bytes, 9), faults);
  b.print("opened");
}

// What a child sees: its end says so.
template <class Look>
void in_child(const char* what, Look look) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  check(child >= 0, "fork");
  if (child == 0) {
    ::signal(SIGSEGV, SIG_DFL);
    ::_exit(look());
  }
  int status = 0;
  check(::waitpid(child, &status, 0) == child, "waitpid");
  if (WIFSIGNALED(status))
    std::printf("%s: signal %d\n", what, WTERMSIG(status));
  else
    std::printf("%s: %d\n", what, WEXITSTATUS(status));
}

void children() {
  Block b;
  std::memset(b.all, 5, Bytes);
  check(::mprotect(b.pages, b.bytes, PROT_READ) == 0, "mprotect");
  in_child("reads", [&] { return bytes_that_are(b.all, Bytes, 5) == Bytes ? 0 : 1; });
  in_child("writes to what is protected", [&] { return b.pages[Page] = 6; });
  in_child("writes to others", [&] { return b.all[Bytes - 1] = 6; });
  check(::mprotect(b.pages, b.bytes, PROT_READ | PROT_WRITE) == 0, "mprotect");
  in_child("writes to what was protected", [&] { return b.pages[Page] = 7; });
  std::printf("fives %zu\n", bytes_that_are(b.all, Bytes, 5));
  advise(b.pages, b.bytes, MADV_DONTNEED, "MADV_DONTNEED");
  std::memset(b.pages, 8, Page);
  in_child("reads what was dropped", [&] {
    return bytes_that_are(b.pages, b.bytes, 0) == b.bytes - Page && bytes_that_are(b.pages, Page, 8) == Page ? 0 : 1;
  });
  std::memset(b.all, 5, Bytes);
  advise(b.pages, b.bytes, WipeOnFork, "MADV_WIPEONFORK");
  advise(b.pages + b.bytes, Page, MADV_DONTFORK, "MADV_DONTFORK");
  in_child("reads what is wiped", [&] { return bytes_that_are(b.pages, b.bytes, 0) == b.bytes ? 0 : 1; });
  in_child("reads what it has not", [&] { return b.pages[b.bytes]; });
  in_child("frees", [&] { return std::free(b.all), 3; });
  std::printf("fives %zu\n", bytes_that_are(b.all, Bytes, 5));
  b.print("after them");
}

void moved() {
  Block b;
  fill(b.all, Bytes, 3);
  void* const p = ::mremap(b.pages, b.bytes, 2 * b.bytes, MREMAP_MAYMOVE);
  check(p != MAP_FAILED, "mremap");
  std::vector<char> expected(Bytes);
  fill(expected.data(), Bytes, 3);
  auto* const there = static_cast<char*>(p);
  const size_t skipped = static_cast<size_t>(b.pages - b.all);
  const auto as_it_was = [&] { return std::memcmp(there, expected.data() + skipped, b.bytes) == 0; };
  std::printf("moved %s\n", as_it_was() ? "as it was" : "NOT as it was");
  std::printf("grown: zeros %zu\n", bytes_that_are(there + b.bytes, b.bytes, 0));
  in_child("and a child", [&] { return there[5] = 9; });
  std::printf("then %s\n", as_it_was() ? "as it was" : "NOT as it was");
  in_child("what was moved is not there", [&] { return b.pages[0]; });
  // Back to where it was.
  check(::mremap(p, 2 * b.bytes, b.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, b.pages) == b.pages, "mremap back");
  std::printf("back %s\n", std::memcmp(b.all, expected.data(), Bytes) == 0 ? "as it was" : "NOT as it was");
  b.print("after it");
}

void unmapped() {  // and mapped anew
  Block b;
  std::memset(b.all, 5, Bytes);
  check(::munmap(b.pages, b.bytes) == 0, "munmap");
  in_child("what was unmapped is not there", [&] { return b.pages[Page]; });
  char* const p = static_cast<char*>(::mmap(b.pages, b.bytes, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
  check(p == b.pages, "mmap");
  std::printf("zeros %zu, fives %zu\n", bytes_that_are(b.pages, b.bytes, 0), bytes_that_are(b.all, Bytes, 5));
  b.print("after it");
}

void file() {  // two views of one file inside of a block
  Block b;
  const int fd = ::memfd_create("ring", 0);
  check(fd >= 0 && ::ftruncate(fd, static_cast<off_t>(b.bytes / 2)) == 0, "memfd_create");
  for (size_t half = 0; half < 2; ++half)
    check(::mmap(b.pages + half * b.bytes / 2, b.bytes / 2, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) !=
              MAP_FAILED,
          "mmap");
  std::memset(b.pages, 4, b.bytes / 2);
  std::printf("fours %zu\n", bytes_that_are(b.pages + b.bytes / 2, b.bytes / 2, 4));
  std::vector<char> seen(Bytes);
  b.link.write(b.all, Bytes);
  b.link.read(seen.data(), Bytes);
  std::printf("there %s\n", std::memcmp(seen.data(), b.all, Bytes) == 0 ? "as here" : "NOT as here");
  b.link.read(b.all, Bytes);
  std::printf("fours %zu\n", bytes_that_are(b.pages, b.bytes, 4));
}

// Blocks of the same site get what such a block leaves.
void again() {
  Link link;
  constexpr int Usual = PROT_READ | PROT_WRITE;
  for (unsigned i = 0; i < 12; ++i) {
    char* const p = make_block();
    use(link, p, Bytes, i);
    char* const pages = first_page(p);
    if (i % 4 == 0) ::mprotect(pages, MiB, PROT_NONE), ::mprotect(pages, MiB, Usual);
    if (i % 4 == 1) ::madvise(pages, MiB, MADV_DONTNEED);
    if (i % 4 == 2) ::mmap(pages + MiB, MiB, Usual, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    std::free(p);
  }
  char* const p = make_block();
  use(link, p, Bytes, 99);
  std::printf("used %s\n", filled(p, Bytes, 100) ? "again" : "WRONG");
  std::free(p);
}

// One thread gives pages back while others write theirs: an allocator on top of a large block.
void threads() {
  Block b;
  std::atomic<bool> stop{false};
  std::atomic<size_t> lost{0};
  const auto work = [&](size_t part) {
    char* const mine = b.pages + part * 64 * Page;
    for (unsigned i = 1; !stop; ++i) {
      std::memset(mine, static_cast<int>(i % 100 + 1), 32 * Page);
      if (bytes_that_are(mine, 32 * Page, static_cast<char>(i % 100 + 1)) != 32 * Page) ++lost;
    }
  };
  std::thread first(work, 0), second(work, 1);
  for (int i = 0; i < 300; ++i) ::madvise(b.pages + (32 + i % 2 * 64) * Page, 32 * Page, MADV_DONTNEED);
  stop = true;
  first.join();
  second.join();
  std::printf("lost %zu\n", lost.load());
  b.print("after it");
}

// Pages that a thread of the program's brings.
void served() {
  const int userfault = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
  uffdio_api api = {};
  api.api = UFFD_API;
  if (userfault < 0 || ::ioctl(userfault, UFFDIO_API, &api) != 0) return static_cast<void>(std::printf("none here\n"));
  Block b;
  std::memset(b.all, 5, Bytes);
  uffdio_register part = {};
  part.range = {reinterpret_cast<uintptr_t>(b.pages), b.bytes};
  part.mode = UFFDIO_REGISTER_MODE_MISSING;
  check(::ioctl(userfault, UFFDIO_REGISTER, &part) == 0, "UFFDIO_REGISTER");
  advise(b.pages, b.bytes, MADV_DONTNEED, "MADV_DONTNEED");
  std::thread([userfault] {
    std::vector<char> page(Page, 9);
    for (uffd_msg message; ::read(userfault, &message, sizeof message) == sizeof message;) {
      uffdio_copy copy = {};
      copy.dst = message.arg.pagefault.address & ~(Page - 1);
      copy.src = reinterpret_cast<uintptr_t>(page.data());
      copy.len = Page;
      if (::ioctl(userfault, UFFDIO_COPY, &copy) != 0) std::printf("asked for twice\n");
    }
  }).detach();
  std::vector<char> seen(Bytes);
  b.link.write(b.all, Bytes);
  b.link.read(seen.data(), Bytes);
  std::printf("nines %zu, fives %zu\n", bytes_that_are(seen.data(), Bytes, 9), bytes_that_are(seen.data(), Bytes, 5));
  b.print("after it");
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)();
  } shapes[] = {{"dropped", dropped}, {"freed", freed},       {"refused", refused}, {"protect", protect},
                {"children", children}, {"moved", moved},     {"unmapped", unmapped}, {"file", file},
                {"again", again},     {"threads", threads},   {"served", served}};
  for (int i = 1; i < argc; ++i)
    for (const auto& shape : shapes)
      if (std::string(argv[i]) == shape.name) std::printf("-- %s\n", shape.name), shape.run();
  return 0;
}
