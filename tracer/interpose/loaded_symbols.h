// What a loaded module defines, read from its own tables in memory: without the dynamic linker, its locks, and whoever
// else has put himself between (heaptrack's dlopen and dlclose).
//
// Thread safety: yes, as long as the module stays. Takes no lock, allocates nothing, calls nobody.
#pragma once

#include <link.h>

#pragma GCC visibility push(hidden)

namespace gt::interpose {

// Where it exports `name`, in whatever version; nullptr: it does not. (An IFUNC's is the function that chooses.)
const void* definition(const link_map& module, const char* name);
inline bool defines(const link_map& module, const char* name) { return definition(module, name) != nullptr; }

// Is it linked to a library of which this is true?
bool needs(const link_map& module, bool (*is_it)(const char* library));

// The module that holds this code; nullptr: the dynamic linker does not know it (it is part of a static program).
const link_map* own_module();

// The modules of the program's namespace, the program first, then in the order in which symbols are looked for among
// those that were there at the start. REQUIRES for all but these: no other thread unloads any.
inline const link_map* first_module() { return _r_debug.r_map; }

}  // namespace gt::interpose

#pragma GCC visibility pop
