#include "traces/sandbox/sandbox.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "traces/base/fd.h"

namespace gt {
namespace {

// --- The kernel's interface (linux/landlock.h, which older systems lack or have less of)
constexpr long CreateRuleset = 444, AddRule = 445, RestrictSelf = 446;
constexpr uint32_t AskVersion = 1, PathBeneath = 1;
struct Ruleset {
  uint64_t handled = 0;
};
struct __attribute__((packed)) PathRule {
  uint64_t allowed = 0;
  int32_t parent = -1;
};
constexpr uint64_t Execute = 1, WriteFile = 2, ReadFile = 4, ReadFolder = 8;
constexpr uint64_t FirstVersion = (1 << 13) - 1;  // these and others
constexpr uint64_t Refer = 1 << 13, Truncate = 1 << 14, DeviceControl = 1 << 15;
constexpr uint64_t OfFiles = Execute | WriteFile | ReadFile | Truncate | DeviceControl;
constexpr uint64_t ToRead = Execute | ReadFile | ReadFolder;

long version() { return ::syscall(CreateRuleset, nullptr, 0, AskVersion); }

uint64_t rights_of(long version) {
  return FirstVersion | (version >= 2) * Refer | (version >= 3) * Truncate | (version >= 5) * DeviceControl;
}

Status allow(int ruleset, const std::string& path, uint64_t rights) {
  const Fd parent(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat about {};
  if (!parent.open() || ::fstat(parent.get(), &about) != 0) return {};  // it is not there, or not for us anyway
  const PathRule rule{S_ISDIR(about.st_mode) ? rights : rights & OfFiles, parent.get()};
  if (::syscall(AddRule, ruleset, PathBeneath, &rule, 0) != 0) return system_error("sandbox: " + path, errno);
  return {};
}

}  // namespace

Status sandbox_available() {
  return version() >= 1 ? Status() : Status(Kind::Unsupported, "this kernel has no Landlock");
}

Status enter_sandbox(const Sandbox& sandbox) {
  const Ruleset wanted{rights_of(version())};
  const Fd ruleset(static_cast<int>(::syscall(CreateRuleset, &wanted, sizeof wanted, 0)));
  if (!ruleset.open()) return system_error("sandbox", errno);
  for (const std::string& path : sandbox.reads) GT_TRY(allow(ruleset.get(), path, ToRead & wanted.handled));
  for (const std::string& path : sandbox.writes) GT_TRY(allow(ruleset.get(), path, wanted.handled));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::syscall(RestrictSelf, ruleset.get(), 0) != 0)
    return system_error("sandbox", errno);
  return {};
}

}  // namespace gt
