#include "tracer/interpose/opencl_requests.h"

#include <alloca.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tracer/interpose/linker_cache.h"
#include "tracer/interpose/linker_failure.h"
#include "tracer/interpose/loaded_symbols.h"
#include "tracer/interpose/real_library.h"
#include "traces/base/reentry.h"

// The injected library itself, as the linker lays it out.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) const char _end[];

namespace gt::interpose {

namespace {

// Handles that the program has from us and has not given back; whether one was asked for with RTLD_GLOBAL.
constinit std::atomic<int> g_opened{0};
constinit std::atomic<bool> g_opened_global{false};
// The library that the last such request would have opened. Usually the real library; it stays open.
constinit std::atomic<void*> g_asked_for{nullptr};

bool is_own_code(const void* p) { return p >= __ehdr_start && p < _end; }
void* own_handle() { return const_cast<link_map*>(own_module()); }  // glibc: a handle is a link_map
bool is_file(const char* path) { return access(path, R_OK) == 0; }

// --- Who has OpenCL without having asked us ---

// A program or library that is linked to it: natively the dynamic linker would have loaded it.
bool somebody_needs_opencl() {
  for (const link_map* m = first_module(); m; m = m->l_next)
    if (needs(*m, is_opencl_name)) return true;
  return false;
}

const link_map* module_of(const void* address) {
  Dl_info info;
  void* module = nullptr;
  return dladdr1(address, &info, &module, RTLD_DL_LINKMAP) ? static_cast<const link_map*>(module) : nullptr;
}

bool comes_before_us(const link_map* module) {
  const link_map* const ours = own_module();
  for (const link_map* m = first_module(); m && m != ours; m = m->l_next)
    if (m == module) return true;
  return false;
}

// --- The system's search ---

// Opens candidates as the linker would; the first that fails is what its message is about.
class Attempt {
 public:
  explicit Attempt(int flags) : flags_(flags) {}

  bool open(const char* path) {
    if (!is_file(path) || is_ours(path)) return false;
    void* handle = real_dlopen(path, flags_);
    if (handle && is_interposer(handle)) {
      real_dlclose(handle);
      return false;
    }
    if (!handle && failed_[0] == 0 && std::strlen(path) < sizeof failed_) std::strcpy(failed_, path);
    return (handle_ = handle) != nullptr;
  }
  // Nothing was found. The linker's reason; with RTLD_NOLOAD it has none for a file that is there.
  void explain(const char* name) {
    const link_map* const ours = own_module();
    void* again = real_dlopen(failed_[0] ? failed_ : name, flags_);
    if (!again) return;
    real_dlclose(again);
    if (again == ours) fail_as_linker(name, "cannot open shared object file: No such file or directory");
  }
  void* handle() const { return handle_; }

  // A file of ours, by whatever path.
  static bool is_ours(const char* path) {
    struct stat a {
    }, b{};
    return stat(path, &a) == 0 && stat(own_path(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  }

 private:
  // Another copy of ours, perhaps of another version.
  static bool is_interposer(void* handle) {
    const bool found = real_dlsym(handle, "gt_interposed_library") != nullptr;
    if (!found) real_dlerror();
    return found;
  }

  int flags_;
  void* handle_ = nullptr;
  char failed_[PATH_MAX] = "";
};

bool is_system_directory(std::string_view directory) {
  for (const std::string_view usual : {"/lib", "/usr/lib", "/lib64", "/usr/lib64"})
    if (directory == usual || (directory.substr(0, usual.size()) == usual && directory.ends_with("-linux-gnu")))
      return true;
  return false;
}

// The directories that the linker goes through for `module`: RPATH, LD_LIBRARY_PATH, RUNPATH, and its own.
bool search_directories(const link_map* module, const char* name, bool system, Attempt& attempt) {
  void* const handle = const_cast<link_map*>(module);
  Dl_serinfo size;
  if (dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) != 0) return false;
  auto* list = static_cast<Dl_serinfo*>(alloca(size.dls_size));
  list->dls_size = size.dls_size;
  list->dls_cnt = size.dls_cnt;
  if (dlinfo(handle, RTLD_DI_SERINFO, list) != 0) return false;
  for (unsigned i = 0; i < list->dls_cnt; ++i) {
    const char* const directory = list->dls_serpath[i].dls_name;
    char path[PATH_MAX];
    const int n = std::snprintf(path, sizeof path, "%s/%s", directory, name);
    if (is_system_directory(directory) != system || n <= 0 || static_cast<size_t>(n) >= sizeof path) continue;
    if (attempt.open(path)) return true;
  }
  return false;
}

bool search_cache(const char* name, Attempt& attempt) {
  return LinkerCache().find(name, [&](std::string_view found) {
    char path[PATH_MAX];
    if (found.size() >= sizeof path) return false;
    path[found.copy(path, sizeof path - 1)] = 0;
    return attempt.open(path);
  });
}

// The user says what the OpenCL library is: then it is there by its usual names.
bool is_given(const char* name) {
  const char* given = getenv(RealLibraryVariable);
  const bool usual = std::strcmp(name, "libOpenCL.so.1") == 0 || std::strcmp(name, "libOpenCL.so") == 0;
  return usual && given && *given && is_file(given) && !Attempt::is_ours(given);
}

// $ORIGIN in a path means the caller's directory.
const char* with_origin(const char* path, const link_map* caller, char (&text)[PATH_MAX]) {
  constexpr const char* Tokens[] = {"$ORIGIN", "${ORIGIN}"};
  for (const char* token : Tokens) {
    const char* at = std::strstr(path, token);
    if (!at) continue;
    char file[PATH_MAX];
    const char* name = caller && caller->l_name[0] ? caller->l_name : "/proc/self/exe";
    if (!realpath(name, file)) return path;
    *std::strrchr(file, '/') = 0;
    const int n = std::snprintf(text, sizeof text, "%.*s%s%s", static_cast<int>(at - path), path, file,
                                at + std::strlen(token));
    return n > 0 && static_cast<size_t>(n) < sizeof text ? text : path;
  }
  return path;
}

enum class Found { Not, There, ByUs };  // ByUs: at the place that is ours

Found search_for(const char* path, const link_map* caller, int flags) {
  Attempt attempt(flags);
  char text[PATH_MAX];
  if (std::strchr(path, '/')) {
    const char* const file = with_origin(path, caller, text);
    if (Attempt::is_ours(file)) return Found::ByUs;
    if (!attempt.open(file)) return attempt.explain(file), Found::Not;
    g_asked_for.store(attempt.handle());
    prefer_real_library(file);
    return Found::There;
  }
  const link_map* const from = caller ? caller : first_module();
  const bool found = search_directories(from, path, false, attempt) || search_cache(path, attempt) ||
                     search_directories(from, path, true, attempt);
  if (found) {
    g_asked_for.store(attempt.handle());
    const char* given = getenv(RealLibraryVariable);
    if (!given || !*given) prefer_real_library(static_cast<link_map*>(attempt.handle())->l_name);
    return Found::There;
  }
  if (is_given(path)) return Found::There;
  attempt.explain(path);
  return Found::Not;
}

// As without us: not a handle that nobody but we would have.
bool is_in_use() { return g_opened.load() > 0 || somebody_needs_opencl(); }

bool is_own_soname(const char* path) { return std::strcmp(path, "libOpenCL.so.1") == 0; }

bool system_has(const char* path, const link_map* caller, int flags) {
  const int asked = flags & ~(RTLD_GLOBAL | RTLD_DEEPBIND | RTLD_NODELETE);
  const bool in_use = is_in_use();
  if (in_use && is_own_soname(path)) return true;  // loaded by that name
  if (!(flags & RTLD_NOLOAD)) return search_for(path, caller, asked) != Found::Not;
  if (in_use) open_real_library();  // natively it is there by now
  return search_for(path, caller, asked) != Found::Not && in_use;
}

void* open_for(const char* path, int flags, const void* return_address) {
  const Reentry guard;
  if (!(flags & RTLD_BINDING_MASK)) return real_dlopen(path, flags);  // it refuses that
  const int saved_errno = errno;
  const link_map* const caller = module_of(return_address);
  if (!system_has(path, caller, flags)) return nullptr;
  // One more reference to the library that is loaded already; dlclose gives it back.
  void* ours = real_dlopen(own_path(), (flags & ~RTLD_DEEPBIND) | RTLD_NOLOAD);
  if (!ours) return real_dlopen(path, flags);
  g_opened.fetch_add(1);
  if (flags & RTLD_GLOBAL) g_opened_global.store(true);
  errno = saved_errno;
  return ours;
}

// --- Symbols ---

bool is_opencl_function(const char* name) { return name[0] == 'c' && name[1] == 'l'; }
bool is_own_mark(const char* name) { return name[0] == 'g' && name[1] == 't' && name[2] == '_'; }

bool real_library_has(const char* name) { return real_symbol(name) != nullptr; }

// The last of the modules that were there at the start: those are in everybody's scope.
constinit const link_map* g_last_at_start = nullptr;
__attribute__((constructor(102))) void note_modules_at_start() {
  g_last_at_start = first_module();
  while (g_last_at_start && g_last_at_start->l_next) g_last_at_start = g_last_at_start->l_next;
}

// Somebody else's function of that name, which we stand before: natively that one is found.
bool others_define(const char* name) {
  for (const link_map* m = first_module(); m; m = m->l_next) {
    if (m != own_module() && defines(*m, name)) return true;
    if (m == g_last_at_start) break;
  }
  return false;
}

const char* name_of(const link_map* module) {
  return module && module->l_name[0] ? module->l_name : program_invocation_name;
}

void* not_there(const link_map* asked, const char* name) {
  fail_as_linker(name_of(asked), "undefined symbol: ", name);
  return nullptr;
}

// Without a handle. Others' definitions were seen to before (is_opencls_business).
void* find_in_scopes(const char* name, const link_map* caller) {
  const bool is_seen = g_opened_global.load() || somebody_needs_opencl();
  const void* own = is_seen && real_library_has(name) ? definition(*own_module(), name) : nullptr;
  return own ? const_cast<void*>(own) : not_there(caller, name);
}

// A loader that the program brought along takes us for a layer (tracer/lib/layer.h).
bool is_layer_entry(const char* name) {
  return std::strcmp(name, "clInitLayer") == 0 || std::strcmp(name, "clGetLayerInfo") == 0;
}
bool is_loader(const link_map* caller) { return caller && defines(*caller, "clGetPlatformIDs"); }

// Of a handle on us: what the library that was asked for, with all that it brings along, answers.
template <class Ask>
void* find_as_asked(const char* name, const Ask& ask) {
  void* const asked_for = g_asked_for.load();
  void* const library = asked_for ? asked_for : real_library();
  if (!library) return ask(own_handle());
  void* const found = ask(library);
  if (!found || !is_opencl_function(name) || !real_library_has(name)) return found;
  const void* own = definition(*own_module(), name);
  return own ? const_cast<void*>(own) : found;
}

}  // namespace

bool is_opencl_name(const char* path) {
  constexpr char Name[] = "libOpenCL.so";
  const char* slash = std::strrchr(path, '/');
  const char* base = slash ? slash + 1 : path;
  constexpr size_t Length = sizeof Name - 1;
  return std::strncmp(base, Name, Length) == 0 && (base[Length] == 0 || base[Length] == '.');
}

__attribute__((noinline)) void* open_opencl(const char* path, int flags) {
  return open_for(path, flags, __builtin_return_address(0));
}
__attribute__((noinline)) void* open_opencl_in_base(long, const char* path, int flags) {
  return open_for(path, flags, __builtin_return_address(0));
}

void opencl_closed(void* handle) {
  if (handle != own_handle()) return;
  int opened = g_opened.load();
  while (opened > 0 && !g_opened.compare_exchange_weak(opened, opened - 1)) {
  }
}

bool is_opencls_handle(void* handle) { return handle && handle == own_handle(); }

bool is_opencls_business(void* handle, const char* name, const void* caller) {
  if (is_opencls_handle(handle)) return name != nullptr;
  if (!name || (!is_opencl_function(name) && !is_own_mark(name)) || !own_module()) return false;
  if (handle != RTLD_DEFAULT && handle != RTLD_NEXT && handle != first_module()) return true;
  const Reentry guard;
  if (others_define(name)) return false;
  return handle != RTLD_NEXT || comes_before_us(module_of(caller));
}

__attribute__((noinline)) void* find_opencl_symbol(void* handle, const char* name) {
  const void* const return_address = __builtin_return_address(0);
  const Reentry guard;
  if (is_opencls_handle(handle)) {
    if (is_layer_entry(name) && is_loader(module_of(return_address))) return real_dlsym(handle, name);
    return find_as_asked(name, [name](void* of) { return real_dlsym(of, name); });
  }
  if (handle == RTLD_DEFAULT || handle == RTLD_NEXT) return find_in_scopes(name, module_of(return_address));
  if (handle == first_module()) return find_in_scopes(name, first_module());
  void* const found = real_dlsym(handle, name);
  return !is_own_code(found) || real_library_has(name) ? found : not_there(static_cast<link_map*>(handle), name);
}

__attribute__((noinline)) void* find_opencl_version(void*, const char* name, const char* version) {
  const Reentry guard;
  return find_as_asked(name, [=](void* of) { return dlvsym_function()(of, name, version); });
}

}  // namespace gt::interpose
