// The OpenCL library that the program would have used without us.
//
// It is opened by path with RTLD_LOCAL | RTLD_NOW, never by soname, and never is it ourselves (same device and inode).
// The path comes from GTRACE_OPENCL_LIBRARY, which the launcher fills with what the dynamic linker would have chosen;
// else from the program's own request (prefer_real_library), a loader that is in the process already, the library path
// and the usual directories. A missing library or entry point is nullptr here, never a crash: the caller answers with
// an OpenCL error.
// Thread safety: all functions. Nothing is opened before the first real_symbol() or open_real_library().
#pragma once

#pragma GCC visibility push(hidden)

namespace gt::interpose {

constexpr const char* RealLibraryVariable = "GTRACE_OPENCL_LIBRARY";

// True when the library is open (opens it if need be; a failure is remembered).
bool open_real_library();

// The real library's own function, or nullptr.
void* real_symbol(const char* name);

void* real_library();             // its handle; nullptr: there is none
const char* real_library_path();  // "" while none is open

// The program asked for this very file (dlopen with a path). Used if no library is open yet and the
// file is not us.
void prefer_real_library(const char* path);

// Path of the shared object that holds this code.
const char* own_path();

}  // namespace gt::interpose

#pragma GCC visibility pop
