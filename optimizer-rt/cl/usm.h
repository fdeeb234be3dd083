// goptimize run --emulate-usm: unified shared memory on local devices whose drivers have none (transport/usm).
// Thread safety: all functions. Cost where it was not asked for: a load and test.
#pragma once

#include <CL/cl.h>

#include "transport/usm/emulated_usm.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

constexpr const char* EmulateUsmVariable = "GTRACE_EMULATE_USM";  // 1: it is asked for

// Ours of that name; nullptr: it was not asked for, or it is no function of the extension. For platforms whose drivers
// have none.
void* usm_function(const char* name) noexcept;

// Each answers the call of that name where it concerns unified shared memory; false: it is the driver's to answer.
bool usm_device_info(cl_device_id device, cl_device_info what, size_t size, void* value, size_t* size_ret,
                     cl_int* result) noexcept;
bool usm_exec_info(cl_kernel kernel, cl_kernel_exec_info what, size_t size, const void* value, cl_int* result) noexcept;
bool usm_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                const size_t* global, const size_t* local, usm::EmulatedUsm::Waits waits, cl_event* event,
                cl_int* result) noexcept;

// What EmulatedUsm says of the program's references.
void usm_kernel_made(cl_kernel kernel) noexcept;
void usm_kernel_cloned(cl_kernel from, cl_kernel to) noexcept;
void usm_kernel_retained(cl_kernel kernel) noexcept;
void usm_kernel_releasing(cl_kernel kernel) noexcept;
void usm_queue_made(cl_command_queue queue) noexcept;
void usm_queue_retained(cl_command_queue queue) noexcept;
void usm_queue_releasing(cl_command_queue queue) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
