#include "tracer/lib/own_stack.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

// Above this lie the program's arguments and environment, at a distance that the kernel draws at random.
extern "C" void* __libc_stack_end __attribute__((weak));

namespace gt::tracer {

namespace {

// In the thread's static TLS block, which some processors have above the control block.
__thread char t_own __attribute__((tls_model("initial-exec")));

// The mappings, one after the other. Lines begin with "LOW-HIGH " in hexadecimal digits.
class Mappings {
 public:
  Mappings() : fd_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  ~Mappings() {
    if (fd_ >= 0) close(fd_);
  }
  Mappings(const Mappings&) = delete;
  Mappings& operator=(const Mappings&) = delete;

  bool next(Stack& mapping) {
    if (fd_ < 0 || !number('-', mapping.low) || !number(' ', mapping.high)) return false;
    for (int c = get(); c != '\n';) {
      if (c < 0) return false;
      c = get();
    }
    return true;
  }

 private:
  int get() {
    if (at_ == end_) {
      const ssize_t n = read(fd_, text_, sizeof text_);
      if (n <= 0) return -1;
      at_ = 0;
      end_ = static_cast<size_t>(n);
    }
    return static_cast<unsigned char>(text_[at_++]);
  }
  bool number(char ends_with, uint64_t& n) {
    n = 0;
    for (int c; (c = get()) != ends_with;) {
      const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
      if (digit < 0) return false;
      n = n << 4 | static_cast<uint64_t>(digit);
    }
    return true;
  }

  int fd_;
  size_t at_ = 0, end_ = 0;
  char text_[1024];  // on the stack of whoever allocates first: it may be small
};

// `below`: where the mapping before it ends.
bool find_mapping(uint64_t address, Stack& mapping, uint64_t& below) {
  Mappings mappings;
  below = 0;
  while (mappings.next(mapping) && mapping.low <= address) {
    if (address < mapping.high) return true;
    below = mapping.high;
  }
  return false;
}

uint64_t stack_limit() {
  rlimit limit{};
  return getrlimit(RLIMIT_STACK, &limit) == 0 ? limit.rlim_cur : 0;
}

Stack stack_of_first() {
  const uint64_t top = &__libc_stack_end ? reinterpret_cast<uint64_t>(__libc_stack_end) : 0;
  Stack mapping{};
  uint64_t below = 0;
  if (top == 0 || !find_mapping(top, mapping, below)) return {};
  const uint64_t limit = stack_limit();
  const uint64_t lowest = limit < mapping.high ? mapping.high - limit : 0;
  return {std::max(below, std::min(lowest, mapping.low)), top};
}

Stack stack_of_other() {
  const uint64_t block = static_cast<uint64_t>(pthread_self()), tls = reinterpret_cast<uint64_t>(&t_own);
  Stack mapping{};
  uint64_t below = 0;
  if (!find_mapping(block, mapping, below)) return {};
  const auto page = static_cast<uint64_t>(getpagesize());
  const uint64_t end = (std::max(block, tls) / page + 1) * page;
  return {mapping.low, std::min(mapping.high, end)};
}

}  // namespace

Stack own_stack(bool first) { return first ? stack_of_first() : stack_of_other(); }

}  // namespace gt::tracer
