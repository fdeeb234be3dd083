// What the fake has to say: what kernels print, and functions that print messages for the program.
#include <cstdio>
#include <cstring>

#include "tests/fake_cl/callbacks.h"
#include "tests/fake_cl/driver.h"

namespace gt::fake {

// By CL_PRINTF_CALLBACK_ARM of the context, with the context's user data.
void print(cl_context context) {
  constexpr cl_context_properties Key = 0x40B0;
  for (size_t i = 0; i + 1 < context->properties.size(); i += 2) {
    if (context->properties[i] != Key) continue;
    using Tell = void(CL_CALLBACK*)(const char*, size_t, size_t, void*);
    const auto tell = reinterpret_cast<Tell>(context->properties[i + 1]);
    call_back([=] { tell("printed", std::strlen("printed"), 1, context->notify_data); });
  }
}

void fake_clLogMessagesToStdoutAPPLE(const char* text, const void*, size_t, void*) {
  std::printf("log: %s\n", text);
  std::fflush(stdout);
}

}  // namespace gt::fake
