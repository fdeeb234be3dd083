// What stands in the way of following a program into the file that it is about to execute.
//
// Used between vfork and exec: system calls only.
// Thread safety: yes.
#pragma once

#pragma GCC visibility push(hidden)

namespace gt::interpose {

// A few words; nullptr when nothing is known to. `directory`, `path` as for execveat: path "" is the file `directory`.
const char* obstacle_in(int directory, const char* path);
// The same of a name that is looked for in PATH.
const char* obstacle_in_path(const char* name);

}  // namespace gt::interpose

#pragma GCC visibility pop
