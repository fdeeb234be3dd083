// What the program's dlerror() says: of failures that we found out, in the linker's manner; else the linker's own
// words.
//
// Thread safety: all functions; a failure is its thread's.
#pragma once

#pragma GCC visibility push(hidden)

namespace gt::interpose {

// What dlerror() says next, once: "SUBJECT: WHAT[DETAIL]". Our failures of before are forgotten by the next request.
void fail_as_linker(const char* subject, const char* what, const char* detail = "");
void forget_failure();
// The program's dlerror().
char* program_dlerror();

}  // namespace gt::interpose

#pragma GCC visibility pop
