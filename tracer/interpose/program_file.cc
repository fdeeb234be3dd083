#include "tracer/interpose/program_file.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "tracer/interpose/elf_file.h"

namespace gt::interpose {

namespace {

constexpr int MaxInterpreters = 5;  // the kernel's own limit for scripts that interpret scripts

bool is_regular(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode);
}

Status not_executable(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return {Kind::Invalid, "cannot run " + path + ": no such file"};
  if (S_ISDIR(st.st_mode)) return {Kind::Invalid, "cannot run " + path + ": it is a directory"};
  return {Kind::Invalid, "cannot run " + path + ": it is not executable (chmod +x?)"};
}

bool is_executable(const std::string& path) {
  return is_regular(path) && access(path.c_str(), X_OK) == 0;
}

Result<std::string> resolve(const std::string& name) {
  if (name.empty()) return Status(Kind::Invalid, "no program given");
  if (name.find('/') != std::string::npos) {
    if (is_executable(name)) return name;
    return not_executable(name);
  }
  const char* list = getenv("PATH");
  std::istringstream directories(list ? list : "/usr/local/bin:/usr/bin:/bin");
  std::optional<std::string> refused;
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string path = (directory.empty() ? "." : directory) + "/" + name;
    if (is_executable(path)) return path;
    if (!refused && is_regular(path)) refused = path;
  }
  if (refused) return not_executable(*refused);
  return Status(Kind::Invalid, "cannot run " + name + ": not found in PATH");
}

// "#!/usr/bin/env -S python3 -u": the words after "#!".
std::vector<std::string> script_words(std::string_view text) {
  std::vector<std::string> words;
  if (text.substr(0, 2) != "#!") return words;
  const std::string_view first = text.substr(2, 4096);
  std::istringstream line(std::string(first.substr(0, first.find('\n'))));
  for (std::string word; line >> word;) words.push_back(word);
  return words;
}

// What runs a script in the end: env is only a detour to the program that it names.
std::string interpreter_of(const std::vector<std::string>& words) {
  const std::string& first = words.front();
  if (first.substr(first.rfind('/') + 1) != "env") return first;
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i][0] == '-' || words[i].find('=') != std::string::npos) continue;
    auto target = resolve(words[i]);
    return target ? *target : first;
  }
  return first;
}

bool gains_privileges(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return false;
  const bool other_user = (st.st_mode & S_ISUID) && st.st_uid != geteuid();
  const bool other_group = (st.st_mode & S_ISGID) && st.st_gid != getegid();
  const bool capabilities =
      geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  return other_user || other_group || capabilities;
}

void refuse(ProgramFile& program, const std::string& why) {
  program.preloadable = false;
  program.obstacles.push_back(program.binary + " " + why);
}

void judge(ProgramFile& program, const ElfFile& elf) {
  if (!elf.runs_here())
    return refuse(program,
                  "is a program for another processor or word size: its calls will not be seen");
  if (!elf.has_interpreter())
    return refuse(program, "is statically linked: its calls will not be seen");
  if (gains_privileges(program.binary)) {
    return refuse(program,
                  "gains privileges when it starts (set-user-ID or capabilities): its calls will "
                  "not be seen");
  }
  if (elf.defines("clGetPlatformIDs") && elf.text().find("OPENCL_LAYERS") == std::string_view::npos) {
    program.own_opencl = true;
  }
}

}  // namespace

Result<ProgramFile> find_program(const std::string& name) {
  auto path = resolve(name);
  if (!path) return path.status();
  ProgramFile program{*path, *path, true, false, {}};
  for (int depth = 0; depth < MaxInterpreters; ++depth) {
    auto file = ElfFile::open(program.binary);
    if (!file) return program;  // executable but not readable: it runs, we know nothing more
    if (file->is_elf()) {
      judge(program, *file);
      return program;
    }
    const auto words = script_words(file->text());
    const std::string next = words.empty() ? "/bin/sh" : interpreter_of(words);
    if (!is_executable(next)) return not_executable(next).at(program.binary);
    program.binary = next;
  }
  return Status(Kind::Invalid, "cannot run " + *path + ": too many interpreters");
}

}  // namespace gt::interpose
