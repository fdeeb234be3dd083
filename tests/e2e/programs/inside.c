// Looks at the test library's view of the process: the real OpenCL library, the loaded modules,
// what changes.
#define _GNU_SOURCE
#include <string.h>

#include "tests/e2e/programs/check.h"

int main(int argc, char** argv) {
  const char* (*real_library)(const char*, void**) =
      INTERPOSER(const char* (*)(const char*, void**), "real_library");
  int (*changed)(void) = INTERPOSER(int (*)(void), "modules_loaded_since");
  void (*print_modules)(void) = INTERPOSER(void (*)(void), "print_modules");
  CHECK(real_library && changed && print_modules);
  if (argc > 1 && !strcmp(argv[1], "modules")) {
    CHECK(changed() && !changed());
    CHECK(dlopen("libutil.so.1", RTLD_NOW) != NULL);
    CHECK(changed() && !changed());
    print_modules();
    return 0;
  }
  void *found = NULL, *missing = NULL;
  printf("%s\n", real_library("clGetPlatformInfo", &found));
  real_library("clNoSuchFunction", &missing);
  printf("%s %s\n", found ? "found" : "none", missing ? "found" : "none");
  CHECK(dlerror() == NULL);  // our searches leave no trace
  return 0;
}
