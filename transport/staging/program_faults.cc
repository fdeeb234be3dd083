#include "transport/staging/program_faults.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace gt::staging {
namespace {

constexpr int PopulateRead = 22, PopulateWrite = 23;  // MADV_*, of newer headers

bool is_handled(int signal) {
  struct sigaction now;
  if (::sigaction(signal, nullptr, &now) != 0) return true;
  return (now.sa_flags & SA_SIGINFO) != 0 || (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN);
}

// Not through madvise(): the injected library watches the program's by that name. 0, or the error.
int populate(const void* p, size_t bytes, int advice) {
  if (bytes == 0) return 0;
  const int saved_errno = errno;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(p) & ~(FaultPage - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(p) + bytes + FaultPage - 1) & ~(FaultPage - 1);
  const int error = ::syscall(SYS_madvise, begin, end - begin, advice) == 0 ? 0 : errno;
  errno = saved_errno;
  return error;
}

// Memory of a userfaultfd that serves faults of user mode alone is there for readers, and for no system call: EFAULT.
// What is not mapped, or may not be read, is answered otherwise.
bool is_served(const void* p, size_t bytes) {
  const int error = populate(p, bytes, PopulateRead);
  return error == 0 || error == EFAULT;
}

}  // namespace

bool faults_are_handled() noexcept {
  const int saved_errno = errno;
  const bool handled = is_handled(SIGSEGV) || is_handled(SIGBUS);
  errno = saved_errno;
  return handled;
}

bool is_readable(const void* p, size_t bytes) noexcept { return populate(p, bytes, PopulateRead) == 0; }
bool is_writable(void* p, size_t bytes) noexcept { return populate(p, bytes, PopulateWrite) == 0; }

void copy_from_program(void* to, const void* from, size_t bytes) noexcept {
  if (faults_are_handled()) return static_cast<void>(std::memcpy(to, from, bytes));
  const int saved_errno = errno;
  for (size_t done = 0; done < bytes;) {
    char* const target = static_cast<char*>(to) + done;
    const auto* const source = static_cast<const char*>(from) + done;
    const iovec here{target, bytes - done}, there{const_cast<char*>(source), bytes - done};
    const ssize_t n = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);  // to the first page that is not there
    if (n < 0 && errno != EFAULT) {  // not allowed here: then as a driver would
      std::memcpy(target, source, bytes - done);
      break;
    }
    if (n > 0) {
      done += static_cast<size_t>(n);
      continue;
    }
    const size_t page_left = FaultPage - reinterpret_cast<uintptr_t>(source) % FaultPage;
    const size_t part = std::min(bytes - done, page_left);
    if (is_served(source, part))
      std::memcpy(target, source, part);
    else
      std::memset(target, 0, part);
    done += part;
  }
  errno = saved_errno;
}

void touch(const void* p, size_t bytes) noexcept {
  const auto* const at = static_cast<const volatile char*>(p);
  for (size_t i = 0; i < bytes; i += FaultPage) (void)at[i];
  if (bytes > 0) (void)at[bytes - 1];
}

}  // namespace gt::staging
