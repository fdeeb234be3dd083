// How many processors a test believes to have: GT_TEST_PROCESSORS, or the machine's. Where threads look before they
// sleep depends on it (transport/link/base/spin_policy.h), and both ways are to be tested on any machine. Linked into a
// test program, whose definition comes before libc's.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

extern "C" int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t* set) noexcept {
  const char* const wanted = std::getenv("GT_TEST_PROCESSORS");
  CPU_ZERO_S(bytes, set);
  if (!wanted) return ::syscall(SYS_sched_getaffinity, process, bytes, set) < 0 ? -1 : 0;
  for (size_t i = 0; i < std::strtoul(wanted, nullptr, 10); ++i) CPU_SET_S(i, bytes, set);
  return 0;
}
