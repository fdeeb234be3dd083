// What a program hears that asks the dynamic linker for OpenCL: the system's answers, with our functions in them.
//
// Whether a library of that name is there is decided as without us, by the linker's own order of search for the caller:
// then the program gets a handle on the injected library, else nothing and the linker's words. Of a handle on us it can
// have what the real library has: our function where we wrap it, the real library's own otherwise; what that one lacks
// is not there, nor are we ourselves. (docs/decisions/0024-answers-of-the-system.md)
// Thread safety: all functions.
#pragma once

#include "tracer/interpose/dynamic_linker.h"

#pragma GCC visibility push(hidden)

namespace gt::interpose {

// "libOpenCL.so", "libOpenCL.so.1", "/any/where/libOpenCL.so.1.2".
bool is_opencl_name(const char* path);

// The entry paths jump to these: the return address is the program's. REQUIRES: is_opencl_name(path).
void* open_opencl(const char* path, int flags);
void* open_opencl_in_base(long space, const char* path, int flags);
// After a dlclose that succeeded.
void opencl_closed(void* handle);

bool is_opencls_handle(void* handle);
// Would the answer be one of ours that the system might not give? `caller`: the return address.
bool is_opencls_business(void* handle, const char* name, const void* caller);
void* find_opencl_symbol(void* handle, const char* name);                       // REQUIRES: is_opencls_business()
void* find_opencl_version(void* handle, const char* name, const char* version);  // REQUIRES: is_opencls_handle()

}  // namespace gt::interpose

#pragma GCC visibility pop
