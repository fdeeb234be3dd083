// Memory whose pages a handler of the process makes present travels over every kind of link, both ways.
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "tests/unit/link/started.h"

namespace gt::wire {
namespace {

constexpr size_t Page = 4096, Bytes = size_t{4} << 20;

char* area = nullptr;
bool fills = false;
std::atomic<int> faults{0};

const std::vector<char> contents = [] {
  std::vector<char> all(Bytes);
  for (size_t i = 0; i < Bytes; ++i) all[i] = static_cast<char>(i / Page * 5 + i % 253);
  return all;
}();

void on_fault(int, siginfo_t* info, void*) {
  auto* const at = static_cast<char*>(info->si_addr);
  if (at < area || at >= area + Bytes) return static_cast<void>(::signal(SIGSEGV, SIG_DFL));
  const size_t first = static_cast<size_t>(at - area) / Page * Page;
  ::mprotect(area + first, Page, PROT_READ | PROT_WRITE);
  if (fills) std::memcpy(area + first, &contents[first], Page);
  ++faults;
}

class Area {
 public:
  Area(int protection, bool with_contents) {
    area = static_cast<char*>(::mmap(nullptr, Bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(area != MAP_FAILED);
    fills = with_contents;
    faults = 0;
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    REQUIRE(::sigaction(SIGSEGV, &action, &before_) == 0);
    protect(protection);
  }
  ~Area() {
    ::sigaction(SIGSEGV, &before_, nullptr);
    ::munmap(area, Bytes);
  }
  void protect(int protection) { REQUIRE(::mprotect(area, Bytes, protection) == 0); }

 private:
  struct sigaction before_ = {};
};

size_t wrong_in(const char* bytes) {
  if (std::memcmp(bytes, contents.data(), Bytes) == 0) return 0;
  size_t wrong = 0;
  for (size_t i = 0; i < Bytes; ++i) wrong += bytes[i] != contents[i];
  return wrong;
}

}  // namespace

TEST_CASE("puts and gets of memory that appears when it is touched") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    std::vector<char> there(Bytes);
    const auto segment = s.b().expose(there.data(), Bytes);
    REQUIRE(segment.ok());
    Area a(PROT_NONE, true);
    size_t noticed = 0;
    for (const size_t piece : {Bytes, size_t{300000}, size_t{5000}}) {
      a.protect(PROT_NONE);
      std::fill(there.begin(), there.end(), char{0});
      for (size_t at = 0; at < Bytes; at += piece)
        s.a().put(area + at, {*segment, at}, std::min(piece, Bytes - at), at), ++noticed;
      REQUIRE(s.at_b.wait_puts(noticed));
      CHECK(wrong_in(there.data()) == 0);
    }
    CHECK(faults > 100);
    // Watched for writes: it is not filled, only opened.
    fills = false;
    std::memset(area, 0, Bytes);
    a.protect(PROT_READ);
    faults = 0;
    CHECK(s.a().wait(s.a().get(area, {*segment, 0}, Bytes)).ok());
    CHECK(wrong_in(area) == 0);
    CHECK(faults > 100);
    std::memset(area, 0, Bytes);
    a.protect(PROT_READ);
    const auto exposed = s.a().expose(area, Bytes);
    REQUIRE(exposed.ok());
    s.b().put(there.data(), {*exposed, 0}, Bytes, 1);
    REQUIRE(s.at_a.wait_puts(1));
    CHECK(wrong_in(area) == 0);
    REQUIRE(s.a().withdraw(*exposed).ok());
  }
}

}  // namespace gt::wire
