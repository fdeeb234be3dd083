// What is loaded in the process: the program and its libraries, where they lie and what they are.
//
// Thread safety: all functions. They allocate nothing and leave errno alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#pragma GCC visibility push(hidden)

namespace gt::interpose {

// How often the program has asked for a library (entry_paths.cc counts): what is remembered of code addresses from
// before may be another code's.
extern std::atomic<uint32_t> libraries_asked_for;

// True when a library was loaded since the last call that returned true (and the first time). Cost:
// one look at the dynamic linker's counter, about 50 ns and its lock; for calls that are rare.
bool modules_changed();

struct ModuleInfo {
  uint64_t base;  // lowest mapped address
  uint64_t end;   // one past the highest
  uint64_t bias;  // address in memory = bias + address in the file
  const char* path;      // absolute for the program itself; as the dynamic linker knows it for libraries
  const char* build_id;  // lower-case hex, "" when there is none
};

using ModuleVisitor = void (*)(const ModuleInfo&, void* context);
// Visits the program and every loaded library, while the dynamic linker holds its lock: `visit`
// must not load any. Allocates nothing.
void visit_modules(ModuleVisitor visit, void* context);

template <class Visit>
void for_each_module(Visit&& visit) {
  using Function = std::remove_reference_t<Visit>;
  visit_modules([](const ModuleInfo& m, void* f) { (*static_cast<Function*>(f))(m); }, &visit);
}

// The same without the dynamic linker's lock, as a hook needs it, where the C library can find modules so (glibc 2.35);
// false: it cannot, or not this one. Of one module: the one that `address` lies in; it must stay, so it is one whose
// code is running. Of all: REQUIRES that no other thread can load or unload any.
bool modules_are_found_unlocked();
bool visit_module_of(const void* address, ModuleVisitor visit, void* context);
bool visit_modules_unlocked(ModuleVisitor visit, void* context);

template <class Visit>
bool for_module_of(const void* address, Visit&& visit) {
  using Function = std::remove_reference_t<Visit>;
  return visit_module_of(address, [](const ModuleInfo& m, void* f) { (*static_cast<Function*>(f))(m); }, &visit);
}
template <class Visit>
bool for_each_module_unlocked(Visit&& visit) {
  using Function = std::remove_reference_t<Visit>;
  return visit_modules_unlocked([](const ModuleInfo& m, void* f) { (*static_cast<Function*>(f))(m); }, &visit);
}

}  // namespace gt::interpose

#pragma GCC visibility pop
