#include "tracer/interpose/linker_failure.h"

#include <cstring>

#include "tracer/interpose/dynamic_linker.h"
#include "tracer/interpose/libc_alloc.h"
#include "traces/base/reentry.h"

namespace gt::interpose {

namespace {

struct Failure {
  char* text = nullptr;  // libc's memory; until the next one, for the program may look at it as long
  bool pending = false;
};
__thread Failure t_failure __attribute__((tls_model("initial-exec")));

}  // namespace

void fail_as_linker(const char* subject, const char* what, const char* detail) {
  const Reentry guard;
  forget_failure();
  real_dlerror();  // what the C library has to say is older
  const size_t a = std::strlen(subject), b = std::strlen(what), c = std::strlen(detail);
  auto* text = static_cast<char*>(libc.malloc(a + b + c + 3));
  if (!text) return;
  std::memcpy(text, subject, a);
  std::memcpy(text + a, ": ", 2);
  std::memcpy(text + a + 2, what, b);
  std::memcpy(text + a + 2 + b, detail, c + 1);
  libc.free(t_failure.text);
  t_failure = {text, true};
}

void forget_failure() { t_failure.pending = false; }

char* program_dlerror() {
  if (!t_failure.pending) return real_dlerror();
  t_failure.pending = false;
  return t_failure.text;
}

}  // namespace gt::interpose
