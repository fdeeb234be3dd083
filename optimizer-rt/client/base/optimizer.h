// What the optimizer and the virtual platform tell each other. They are two shared objects in one process: pointers to
// functions, handed over once, before the first context. Without goptimize there is no optimizer.
//
// Memory of the optimizer's pools may lie in a file that an executor of this node maps, too: then its devices read and
// write it in place. The optimizer says where, the virtual platform lets go of it before it goes back to the system.
// Thread safety: all functions, from any thread; deregister() is called without locks of the optimizer's.
#pragma once

#include <cstddef>

namespace gt::memory {
struct MoveCounts;
}  // namespace gt::memory

namespace gt::virt {

// What is exposed and pinned as a whole: a span of a pool.
struct SharedSpan {
  char* base = nullptr;
  size_t bytes = 0;
  int file = -1;      // of memory, sealed against shrinking
  size_t offset = 0;  // of `base` in it
};

struct Optimizer {
  // The span that [p, p + bytes) lies in; false: it is ordinary memory.
  bool (*find)(const void* p, size_t bytes, SharedSpan* span) noexcept;
  void (*moved)(const void* p, size_t bytes) noexcept;  // a transfer in place, of it or of memory of ours
  void (*refused)() noexcept;                           // a span that could not be shared: it is copied as ever
  // Its own function of that name, which makes transfers of local contexts fast; nullptr: it has none.
  void* (*function)(const char* name) noexcept;
  // Runs `last` after all that the program runs at its end, destructors of libraries included. False: it cannot.
  bool (*at_process_end)(void (*last)()) noexcept;
  memory::MoveCounts* moves;  // where moves of contents are counted, for as long as the process lives
};

struct VirtualPlatform {
  // No executor maps or has pinned anything of the range any more. False: a transfer is under way there.
  bool (*deregister)(void* base, size_t bytes) noexcept;
};

constexpr const char* MeetName = "gtrace_meet_optimizer";  // asked of clGetExtensionFunctionAddress
using Meet = const VirtualPlatform* (*)(const Optimizer* optimizer) noexcept;  // both live as long as the process

// Asked for in the same way: the one platform is called as the native platforms of its devices if all have the same
// name, and local ones that stand in the same list have it, too. Before a program sees it.
constexpr const char* ShowAsNativeName = "gtrace_show_as_native";
using ShowAsNative = void (*)(const char* name_of_local) noexcept;

// Likewise: do programs know the function of an extension in its later form (client/later_forms.h)?
constexpr const char* HasLaterFormName = "gtrace_has_later_form";
using HasLaterForm = bool (*)(const char* function) noexcept;

// In the virtual platform: nullptr without goptimize.
const Optimizer* optimizer();
void set_optimizer(const Optimizer* optimizer);

}  // namespace gt::virt
