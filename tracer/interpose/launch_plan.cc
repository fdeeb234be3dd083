// Composing what the program is started with: its path, environment, the libraries involved.
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string_view>

#include "tracer/interpose/launch.h"
#include "tracer/interpose/program_file.h"
#include "tracer/interpose/real_library.h"
#include "traces/base/own_path.h"

extern char** environ;

namespace gt::interpose {

namespace {

std::string value_of(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

// A new first element of a colon-separated list. An empty list stays one element: an empty one
// would mean ".".
std::string in_front(const std::string& first, const std::string& list) {
  return list.empty() ? first : first + ":" + list;
}

// The last of OPENCL_LAYERS is the one nearest to the program: it sees the calls as the program makes them.
constexpr const char* LayersVariable = "OPENCL_LAYERS";

std::string behind(const std::string& list, const std::string& last) { return list.empty() ? last : list + ":" + last; }

using Variables = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> compose(const Variables& changes) {
  std::vector<std::string> environment;
  const auto changed = [&](std::string_view entry) {
    for (const auto& [name, value] : changes) {
      if (entry.substr(0, entry.find('=')) == name) return true;
    }
    return false;
  };
  for (char** entry = environ; *entry; ++entry) {
    if (!changed(*entry)) environment.emplace_back(*entry);
  }
  for (const auto& [name, value] : changes) environment.push_back(name + "=" + value);
  return environment;
}

// A sanitizer's runtime insists on being the first library; ours comes behind it, and sees no memory calls.
std::string sanitizer_runtime(const std::string& binary) {
  for (const std::string& library : linked_libraries(binary)) {
    const std::string_view name = std::string_view(library).substr(library.rfind('/') + 1);
    for (const std::string_view runtime : {"libasan.so", "libtsan.so", "libhwasan.so", "libclang_rt.asan"}) {
      if (name.substr(0, runtime.size()) == runtime) return library;
    }
  }
  return "";
}

Status check_preload_path(const std::string& library) {
  if (library.find_first_of(": ") == std::string::npos) return {};
  return {Kind::Unsupported,
          "cannot preload " + library +
              ": its path contains a space or a colon; install gtrace in another directory"};
}

}  // namespace

Result<std::string> injected_library(const std::string& kind) {
  const std::string bin = own_folder();
  for (const char* directory : {"../lib", "../" GT_LIBDIR, "../lib64"}) {
    const std::string path = bin + "/" + directory + "/gtrace/" + kind + "/libOpenCL.so.1";
    char resolved[PATH_MAX];
    if (realpath(path.c_str(), resolved)) return std::string(resolved);
  }
  return Status(Kind::System, "the injected library gtrace/" + kind +
                                  "/libOpenCL.so.1 is missing beside " + bin +
                                  ": the installation is not complete");
}

Result<LaunchPlan> plan_launch(const LaunchRequest& request) {
  auto program = find_program(request.command.empty() ? "" : request.command.front());
  if (!program) return program.status();
  LaunchPlan plan;
  plan.program = program->path;
  plan.binary = program->binary;
  plan.arguments = request.command;
  plan.obstacles = program->obstacles;
  if (program->own_opencl && !request.patched)
    plan.obstacles.push_back(program->binary + " contains its own copy of OpenCL: calls to that copy may go unseen");
  plan.preloads = program->preloadable && !request.library.empty();
  const std::string given = value_of(RealLibraryVariable);
  plan.opencl_library = given.empty() ? find_opencl_library(program->binary) : given;
  Variables changes = request.variables;
  if (plan.preloads) {
    GT_TRY(check_preload_path(request.library));
    const std::string directory = request.library.substr(0, request.library.rfind('/'));
    std::string preload = in_front(request.library, value_of("LD_PRELOAD"));
    if (const std::string sanitizer = sanitizer_runtime(program->binary); !sanitizer.empty())
      preload = in_front(sanitizer, preload);
    changes.emplace_back("LD_PRELOAD", preload);
    changes.emplace_back("LD_LIBRARY_PATH", in_front(directory, value_of("LD_LIBRARY_PATH")));
    if (request.layer) changes.emplace_back(LayersVariable, behind(value_of(LayersVariable), request.library));
    if (!plan.opencl_library.empty())
      changes.emplace_back(RealLibraryVariable, plan.opencl_library);
  }
  plan.environment = compose(changes);
  return plan;
}

}  // namespace gt::interpose
