// Functions of newer loaders than the one that is there.
#pragma once

#pragma GCC visibility push(hidden)

namespace gt::interpose {

// What a program that was linked with a newer loader gets instead of a function that the real library lacks: it asks
// the driver, by clGetExtensionFunctionAddressForPlatform. nullptr: there is nothing for a function of that name.
// Thread safety: any thread; programs that ask by dlsym are told that the function is not there, as without us.
void* substitute(const char* name);

}  // namespace gt::interpose

#pragma GCC visibility pop
