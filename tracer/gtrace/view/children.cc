#include "tracer/gtrace/view/children.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "traces/base/fd.h"
#include "traces/base/wait_child.h"

extern char** environ;

namespace gt::tracer::view {
namespace {

std::string text_in(const Fd& file) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t n = 0; (n = ::pread(file.get(), part.data(), part.size(), static_cast<off_t>(text.size()))) > 0;)
    text.append(part.data(), static_cast<size_t>(n));
  return text;
}

// What the child's files and signals are.
struct Setup {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  Setup() {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  ~Setup() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;
};

}  // namespace

Ended run_quietly(std::vector<std::string> words, Errors errors) {
  Setup setup;
  const Fd kept(errors == Errors::Kept ? ::memfd_create("errors", MFD_CLOEXEC) : -1);
  if (kept.open()) ::posix_spawn_file_actions_adddup2(&setup.files, kept.get(), STDERR_FILENO);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (::posix_spawnp(&child, argv[0], &setup.files, &setup.attributes, argv.data(), environ) != 0) return {127, {}};
  const int state = wait_child(child);
  const int status = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
  return {status, kept.open() ? text_in(kept) : std::string()};
}

bool in_path(const std::string& name) {
  const char* variable = std::getenv("PATH");
  const std::string path = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string file = path.substr(begin, end - begin) + "/" + name;
    struct stat st {};
    if (end > begin && ::stat(file.c_str(), &st) == 0 && S_ISREG(st.st_mode) && ::access(file.c_str(), X_OK) == 0)
      return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace gt::tracer::view
