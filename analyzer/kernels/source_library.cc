// Finding and loading libgtrace-kernels.so: where it was built, or installed beside the program.
#include "analyzer/kernels/source_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include "traces/base/own_path.h"

namespace gt::kernels {
namespace {

constexpr const char* LibraryName = "libgtrace-kernels.so";

SourceLibrary loaded() {
  const std::string own = own_folder();
  for (const char* const folder : {"lib", GT_LIBDIR, "lib64"}) {
    const std::string path = own + "/../" + folder + "/gtrace/" + LibraryName;
    if (::access(path.c_str(), F_OK) != 0) continue;
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return {nullptr, std::string("kernels cannot be read: ") + ::dlerror()};
    const auto read = reinterpret_cast<ReadSource>(::dlsym(library, "gt_read_source"));
    return {read, read ? "" : "kernels cannot be read: " + path + " is of another version"};
  }
  return {nullptr, std::string("kernels cannot be read: lib/gtrace/") + LibraryName + " is not beside " + own};
}

}  // namespace

const SourceLibrary& source_library() {
  static const SourceLibrary library = loaded();
  return library;
}

}  // namespace gt::kernels
