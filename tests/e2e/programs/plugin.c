// A library that loads another one by its own RUNPATH, as plug-ins do.
#include <dlfcn.h>

int plugin_answer(void) {
  void* sub = dlopen("libdoor_sub.so", RTLD_NOW);
  int (*f)(void) = sub ? (int (*)(void))dlsym(sub, "sub_answer") : 0;
  return f ? f() : -1;
}
