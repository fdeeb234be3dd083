// The dynamic linker's functions behind our doors, and what the program is told of failures that we found out.
//
// Found without dlsym, which is one of them: in the tables of the modules after us, then of all others.
// Thread safety: all functions; an error is its thread's.
#pragma once

#pragma GCC visibility push(hidden)

namespace gt::interpose {

using Dlopen = void* (*)(const char*, int);
using Dlmopen = void* (*)(long, const char*, int);
using Dlsym = void* (*)(void*, const char*);
using Dlvsym = void* (*)(void*, const char*, const char*);

Dlopen dlopen_function();
Dlmopen dlmopen_function();
Dlsym dlsym_function();
Dlvsym dlvsym_function();

// Straight to libc's. They look around from where they are called: from this library.
void* real_dlopen(const char* path, int flags);
void* real_dlsym(void* handle, const char* name);
int real_dlclose(void* handle);
char* real_dlerror();

// What dlerror() says next, once: "SUBJECT: WHAT[DETAIL]". Our failures of before are forgotten by the next request.
void fail_as_linker(const char* subject, const char* what, const char* detail = "");
void forget_failure();
// The program's dlerror().
char* program_dlerror();

}  // namespace gt::interpose

#pragma GCC visibility pop
