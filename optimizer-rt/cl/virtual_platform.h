// Contexts that are not a driver's, and the one platform of a run with remote devices.
//
// Remote devices come from the virtual platform's own library (libgtrace-remote.so, an ICD; docs/decisions/0015), which
// is opened with the program's first look at the platforms. Its platform takes the place of all others; its devices and
// the local ones stand in one list. Local devices keep their native handles: a context of local devices of one platform
// is made by its driver, and calls on it pass through here as if there was nothing remote. Everything else (a remote
// device, devices of several drivers) is the virtual platform's.
// Under --spread so are contexts of several local devices: each has memory of its own there, and buffers move between
// them by transport/moves/native_moves.h. Without remote devices the program then sees the platforms that it would have
// seen.
// When the library or every proxy fails, the program gets the platforms that it would have got.
//
// Thread safety: all functions. Cost without remote devices: one load for each call.
#pragma once

#include <CL/cl.h>

#include "optimizer-rt/cl/virtual_handle.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

// Set by goptimize for the program: the library's path; which comes first; what to keep of the list.
constexpr const char* VirtualLibraryVariable = "GTRACE_VIRTUAL_LIBRARY";
constexpr const char* OrderVariable = "GTRACE_ORDER";
constexpr const char* OnlyVariable = "GTRACE_OPT_ONLY";
constexpr const char* NamingVariable = "GTRACE_PLATFORM_NAME";
constexpr const char* SpreadVariable = "GTRACE_SPREAD";  // 1: contexts of several local devices are virtual, too

// The platform of a run with remote devices; nullptr: it has none.
cl_platform_id remote_platform() noexcept;
// The drivers' own platforms of the local devices that are listed beside remote ones; how many.
cl_uint local_platforms(cl_platform_id* out, cl_uint room) noexcept;

// Each answers the call of that name when something of it is virtual; false: it is the driver's to answer.
bool virtual_platform_ids(cl_uint entries, cl_platform_id* platforms, cl_uint* count, cl_int* result) noexcept;
bool virtual_device_ids(cl_platform_id platform, cl_device_type type, cl_uint entries, cl_device_id* devices,
                        cl_uint* count, cl_int* result) noexcept;
using ContextNotify = void(CL_CALLBACK*)(const char*, const void*, size_t, void*);
bool virtual_context(const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
                     ContextNotify notify, void* data, cl_int* error, cl_context* result) noexcept;
bool virtual_context_of_type(const cl_context_properties* properties, cl_device_type type, ContextNotify notify,
                             void* data, cl_int* error, cl_context* result) noexcept;

// A driver's answer about its own device or context: its platform becomes the one that the program knows.
void correct_device_info(cl_device_info what, size_t size, void* value) noexcept;
void correct_context_info(cl_context_info what, size_t size, const size_t* size_ret, void* value) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
