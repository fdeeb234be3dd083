// The control groups that this process is in, and the files in which their limits are.
// Allocates nothing, leaves errno alone: injected code uses it. Thread safety: all functions.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(hidden)

namespace gt {

// The folder of one group, of version 1 or 2.
struct Cgroup {
  const char* folder;
  int version;

  // The beginning of a file there, as text; empty: there is none.
  template <size_t N>
  std::string_view read(const char* name, char (&buffer)[N]) const noexcept {
    return read(name, buffer, N);
  }

 private:
  std::string_view read(const char* name, char* buffer, size_t size) const noexcept;
};

// Visits the process's group, and those above it, that `controller` may limit; where they are usually mounted. `root`:
// the folder that /proc and /sys are looked for in; "": the system's own.
void visit_cgroups(const char* root, std::string_view controller, void (*visit)(const Cgroup&, void*),
                   void* context) noexcept;

template <class Visit>
void for_each_cgroup(const char* root, std::string_view controller, Visit&& visit) noexcept {
  using Function = std::remove_reference_t<Visit>;
  visit_cgroups(root, controller, [](const Cgroup& g, void* f) { (*static_cast<Function*>(f))(g); }, &visit);
}

}  // namespace gt

#pragma GCC visibility pop
