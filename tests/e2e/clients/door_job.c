// Reaches OpenCL through one door and makes the same few calls through each: door_job DOOR [LIBRARY]
//   linked            as linked (needs -DDOOR_LINKED and a library, or objects, that define cl*)
//   default, next     dlsym(RTLD_DEFAULT), dlsym(RTLD_NEXT)
//   open LIBRARY, deepbind LIBRARY, namespace LIBRARY    dlopen, with RTLD_DEEPBIND, dlmopen(LM_ID_NEWLM)
//   none LIBRARY      opens it and calls nothing
// Prints the number of calls that succeeded: 7. Exit status 1 when one failed.
#define _GNU_SOURCE
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* library;

#ifdef DOOR_LINKED
#define FIND(name) (library ? (__typeof__(&name))dlsym(library, #name) : &name)
#else
#define FIND(name) ((__typeof__(&name))dlsym(library, #name))
#endif

static int good;
static void expect(int ok) { good += ok; }

static void job(void) {
  cl_platform_id platform = NULL;
  cl_device_id device = NULL;
  cl_int error = -1;
  expect(FIND(clGetPlatformIDs)(1, &platform, NULL) == CL_SUCCESS);
  expect(FIND(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS);
  cl_context context = FIND(clCreateContext)(NULL, 1, &device, NULL, NULL, &error);
  expect(error == CL_SUCCESS);
  cl_mem buffer = FIND(clCreateBuffer)(context, CL_MEM_READ_WRITE, 4096, NULL, &error);
  expect(error == CL_SUCCESS);
  size_t size = 0;
  expect(FIND(clGetMemObjectInfo)(buffer, CL_MEM_SIZE, sizeof size, &size, NULL) == CL_SUCCESS && size == 4096);
  expect(FIND(clReleaseMemObject)(buffer) == CL_SUCCESS);
  expect(FIND(clReleaseContext)(context) == CL_SUCCESS);
}

int main(int argc, char** argv) {
  const char* door = argc > 1 ? argv[1] : "linked";
  const char* name = argc > 2 ? argv[2] : "";
  if (!strcmp(door, "default")) library = RTLD_DEFAULT;
  if (!strcmp(door, "next")) library = RTLD_NEXT;
  if (!strcmp(door, "open") || !strcmp(door, "none")) library = dlopen(name, RTLD_NOW);
  if (!strcmp(door, "deepbind")) library = dlopen(name, RTLD_NOW | RTLD_DEEPBIND);
  if (!strcmp(door, "namespace")) library = dlmopen(LM_ID_NEWLM, name, RTLD_NOW);
  if (name[0] && !library) return fprintf(stderr, "%s\n", dlerror()), 1;
  if (!strcmp(door, "none")) return puts("0") < 0;
  job();
  printf("%d\n", good);
  return good != 7;
}
