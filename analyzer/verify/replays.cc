#include "analyzer/verify/replays.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "traces/base/fd.h"
#include "traces/base/own_path.h"
#include "traces/base/wait_child.h"

namespace gt::analyzer {

using Json = nlohmann::json;

namespace {

constexpr int Differs = 1;  // gtrace replay's exit status

std::string text_in(const Fd& file) {
  std::string text;
  std::array<char, 1 << 16> part{};
  for (off_t at = 0;;) {
    const ssize_t n = ::pread(file.get(), part.data(), part.size(), at);
    if (n <= 0) return text;
    text.append(part.data(), static_cast<size_t>(n));
    at += n;
  }
}

// The line that gtrace itself said; others are goptimize's.
std::string reason(const std::string& said) {
  size_t at = said.rfind("gtrace: ");
  if (at == said.npos) at = said.rfind('\n', said.size() > 1 ? said.size() - 2 : 0) + 1;
  return said.substr(at, said.find('\n', at) - at);
}

Result<Json> replay(const std::string& trace, const std::vector<std::string>& options) {
  std::vector<std::string> words{program_beside("gtrace"), "replay", "--json", trace};
  words.insert(words.end(), options.begin(), options.end());
  if (::access(words[0].c_str(), X_OK) != 0)
    return Status(Kind::Unsupported, fmt::format("{} is not there", words[0]));
  const Fd out(::memfd_create("replay", MFD_CLOEXEC)), err(::memfd_create("replay", MFD_CLOEXEC));
  if (!out.open() || !err.open()) return system_error("cannot replay: memfd_create", errno);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, out.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, err.get(), STDERR_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, argv[0], &files, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return system_error("cannot start " + words[0], failed);
  const int status = wait_child(child);
  const bool replayed = WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == Differs);
  Json answer = Json::parse(text_in(out), nullptr, false);
  if (replayed && answer.is_object()) return answer;
  return Status(Kind::Unsupported, reason(text_in(err)));
}

double seconds(const Json& answer) { return answer.value("wall_ns", 0.0) * 1e-9; }

void note(const Json& answer, ReplayTimes& times) {
  times.contents = answer.value("contents", false);
  times.differs |= answer.contains("compared") && answer["compared"].value("differing", uint64_t{0}) > 0;
}

}  // namespace

Result<ReplayTimes> time_policy(const std::string& trace, const std::string& policy, size_t turns) {
  const std::vector<std::string> choice{"--policy", policy};
  ReplayTimes times;
  for (size_t turn = 0; turn <= turns; ++turn) {
    for (const bool other : {turn % 2 == 0, turn % 2 != 0}) {
      const Result<Json> answer = replay(trace, other ? choice : std::vector<std::string>());
      if (!answer) return answer.status();
      note(*answer, times);
      if (turn > 0) (other ? times.otherwise_s : times.as_recorded_s).push_back(seconds(*answer));
    }
  }
  return times;
}

Result<ReplayTimes> time_overlap(const std::string& trace, uint64_t& moved) {
  const Result<Json> answer = replay(trace, {"--overlap"});
  if (!answer) return answer.status();
  ReplayTimes times;
  note(*answer, times);
  const Json overlap = answer->value("overlap", Json::object());
  moved = overlap.value("transfers", uint64_t{0});
  const auto list = [&overlap](const char* name) {
    std::vector<double> out = overlap.value(name, std::vector<double>());
    for (double& time : out) time *= 1e-9;
    return out;
  };
  times.as_recorded_s = list("blocking_wall_ns");
  times.otherwise_s = list("wall_ns");
  return times;
}

}  // namespace gt::analyzer
