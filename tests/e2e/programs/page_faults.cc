// Faults in a large block that the program handles by itself (userfaultfd): which it sees, and what is read there.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <atomic>
#include <thread>

#include "tests/e2e/programs/page_care.h"

namespace {

constexpr size_t Served = 64 * MiB;

struct Faults {
  std::atomic<size_t> count{0};
  std::atomic<uint64_t> where{0};
};

// Gives each page that is missed; its contents tell which it is.
void serve(int file, const char* base, std::atomic<bool>* over, Faults* faults) {
  alignas(Page) static char contents[Page];
  while (!over->load()) {
    pollfd ready{file, POLLIN, 0};
    uffd_msg message;
    if (poll(&ready, 1, 5) <= 0 || read(file, &message, sizeof message) != ssize_t{sizeof message}) continue;
    if (message.event != UFFD_EVENT_PAGEFAULT) continue;
    const uintptr_t page = message.arg.pagefault.address & ~(Page - 1);
    const size_t number = (page - address(base)) / Page;
    faults->count.fetch_add(1);
    faults->where.fetch_add(number * number);
    std::memset(contents, static_cast<int>(number % 251 + 1), Page);
    uffdio_copy copy{page, address(contents), Page, 0, 0};
    ioctl(file, UFFDIO_COPY, &copy);
  }
}

int open_faults() {
  const int file = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK));
  uffdio_api api{UFFD_API, 0, 0};
  if (file < 0 || ioctl(file, UFFDIO_API, &api) != 0) std::exit(77);
  return file;
}

// `touched`: of the block, before it is registered. `asked`: the handler is there before the block.
void handle_faults(size_t touched, bool asked) {
  int file = asked ? open_faults() : -1;
  char* const block = block_of(Served);
  char* const base = first_page(block);
  const size_t bytes = Served - Page;
  std::memset(base, 7, touched);
  if (touched > 0) let_them_look();
  if (file < 0) file = open_faults();
  uffdio_register all{{address(base), bytes}, UFFDIO_REGISTER_MODE_MISSING, 0};
  if (ioctl(file, UFFDIO_REGISTER, &all) != 0) std::exit(77);
  Faults faults;
  std::atomic<bool> over{false};
  std::thread server(serve, file, base, &over, &faults);
  uint64_t sum = 0;
  for (size_t at = 0; at < bytes; at += 5 * Page) sum = sum * 31 + static_cast<unsigned char>(base[at]);
  for (size_t at = Page; at < bytes; at += 64 * Page) base[at] = 1;
  over.store(true);
  server.join();
  say("read", static_cast<size_t>(sum));
  say("faults", faults.count.load());
  say("where", static_cast<size_t>(faults.where.load()));
  say("present", in_memory(base, bytes));
  close(file);
  std::free(block);
}

}  // namespace

void faults() { handle_faults(0, false); }
void later_faults() { handle_faults(3 * MiB, false); }
void faults_first() { handle_faults(3 * MiB, true); }
