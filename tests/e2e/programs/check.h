// The smallest test vocabulary: a failed check names its line and ends the program with status 1.
#pragma once

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                                          \
  do {                                                                       \
    if (!(what)) {                                                           \
      fprintf(stderr, "%s:%d: %s is not true\n", __FILE__, __LINE__, #what); \
      exit(1);                                                               \
    }                                                                        \
  } while (0)

// A function of the preloaded test library; NULL when the program runs without it.
#define INTERPOSER(type, name) ((type)dlsym(RTLD_DEFAULT, name))
