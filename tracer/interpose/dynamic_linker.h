// The dynamic linker's functions behind our entry paths.
//
// Found without dlsym, which is one of them: in the tables of the modules after us, then of all others.
// Thread safety: all functions.
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

}  // namespace gt::interpose

#pragma GCC visibility pop
