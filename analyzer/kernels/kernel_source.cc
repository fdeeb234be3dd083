// The child process in which libclang reads a source, and the way of its answer.
#include "analyzer/kernels/kernel_source.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>

#include "analyzer/kernels/source_bytes.h"
#include "analyzer/kernels/source_library.h"
#include "traces/base/fd.h"
#include "traces/base/wait_child.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GT_SHADOW_MEMORY 1  // sanitizers reserve terabytes of addresses: no limit on those
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GT_SHADOW_MEMORY 1
#endif
#endif

namespace gt::kernels {
namespace {

constexpr size_t MaxAnswer = 16 << 20;

void limit(int resource, uint64_t value) {
  const rlimit r{value, value};
  (void)::setrlimit(static_cast<__rlimit_resource>(resource), &r);
}

// What this process had mapped before it read anything: the caller's trace, say.
[[maybe_unused]] uint64_t inherited_bytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// A sum of thousands of terms is as deep a tree.
void deepen_stack() {
  constexpr rlim_t Deep = 100 << 20;
  rlimit r{};
  if (::getrlimit(RLIMIT_STACK, &r) != 0 || r.rlim_cur >= Deep) return;
  r.rlim_cur = std::min(Deep, r.rlim_max);
  (void)::setrlimit(RLIMIT_STACK, &r);
}

// The library's answer goes to the caller's process as it is.
void write_answer(void* to, const uint8_t* bytes, size_t size) {
  const int out = *static_cast<const int*>(to);
  for (size_t done = 0; done < size;) {
    const ssize_t n = ::write(out, bytes + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
}

[[noreturn]] void run_child(ReadSource read, int out, std::string_view source, std::string_view options,
                            const Limits& limits, const std::string& folder) {
  if (!folder.empty() && ::chdir(folder.c_str()) != 0) ::_exit(1);
  limit(RLIMIT_CPU, limits.seconds);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  deepen_stack();
#ifndef GT_SHADOW_MEMORY
  limit(RLIMIT_AS, inherited_bytes() + limits.memory_bytes);
#endif
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE}) ::signal(signal, SIG_DFL);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int standard : {0, 1, 2}) ::dup2(null, standard);  // libclang prints when it crashes
  read(source.data(), source.size(), options.data(), options.size(), write_answer, &out);
  ::_exit(0);
}

enum class End { Whole, TooLate, TooMuch };

End read_answer(int in, std::chrono::milliseconds timeout, Bytes& answer) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + timeout;
  uint8_t chunk[65536];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return End::TooLate;
    pollfd p{in, POLLIN, 0};
    if (::poll(&p, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t n = ::read(in, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return End::Whole;
    answer.insert(answer.end(), chunk, chunk + n);
    if (answer.size() > MaxAnswer) return End::TooMuch;
  }
}

Source failed(const std::string& why) { return {{}, false, why}; }

}  // namespace

Source read_kernels(std::string_view source, std::string_view options, const Limits& limits,
                    const std::string& folder) {
  const SourceLibrary& library = source_library();
  if (!library.read) return failed(library.problem);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed("no pipe for the kernel reader");
  Fd in(ends[0]), out(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return failed("no process for the kernel reader");
  if (child == 0) run_child(library.read, out.get(), source, options, limits, folder);
  out = Fd();
  Bytes answer;
  const End end = read_answer(in.get(), std::chrono::seconds(2 * limits.seconds), answer);
  if (end != End::Whole) ::kill(child, SIGKILL);
  const int status = wait_child(child);
  if (end == End::TooLate || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
    return failed("reading the source took too long");
  if (end == End::TooMuch) return failed("the source has too many kernels");
  if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0) return failed("libclang could not live through the source");
  Source s;
  return decode(answer, s) ? s : failed("libclang could not live through the source");
}

}  // namespace gt::kernels
