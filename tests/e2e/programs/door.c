// Asks for OpenCL through a door, and prints who answered: door MODE [NAME]
//   linked            as linked (needs to be built with -lOpenCL)
//   plain NAME        dlopen(NAME, RTLD_NOW)
//   deepbind NAME, noload NAME, global NAME
//   driver NAME       the same, as a driver that is inside an OpenCL call
//   plugin NAME       a library that is no OpenCL: calls its plugin_answer()
#define _GNU_SOURCE
#include <string.h>

#include "tests/e2e/programs/check.h"

typedef int (*GetPlatforms)(unsigned, void*, unsigned*);

#ifdef DOOR_LINKED
int clGetPlatformIDs(unsigned, void*, unsigned*);
#endif

static int answer(GetPlatforms f) {
  unsigned n = 0;
  if (!f) return puts("nobody"), 0;
  f(0, NULL, &n);
  return puts(n == 4711 ? "interposer" : "real"), 0;
}

static void* opened;
static int flags = RTLD_NOW;
static void open_it(void* name) { opened = dlopen((const char*)name, flags); }

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "linked";
  const char* name = argc > 2 ? argv[2] : "";
#ifdef DOOR_LINKED
  if (!strcmp(mode, "linked")) return answer(clGetPlatformIDs);
#endif
  if (!strcmp(mode, "deepbind")) flags |= RTLD_DEEPBIND;
  if (!strcmp(mode, "noload")) flags |= RTLD_NOLOAD;
  if (!strcmp(mode, "global")) flags |= RTLD_GLOBAL;
  void (*as_driver)(void (*)(void*), void*) =
      INTERPOSER(void (*)(void (*)(void*), void*), "as_driver");
  if (!strcmp(mode, "driver") && as_driver) {
    as_driver(open_it, (void*)name);
  } else {
    opened =
        dlopen(name, flags);  // here, and not in open_it(): the caller's RUNPATH is the program's
  }
  if (!opened) return printf("%s\n", dlerror()), 1;
  if (strcmp(mode, "plugin")) return answer((GetPlatforms)dlsym(opened, "clGetPlatformIDs"));
  int (*plugin_answer)(void) = (int (*)(void))dlsym(opened, "plugin_answer");
  return printf("plugin %d\n", plugin_answer()), 0;
}
