// Asks the dynamic linker for OpenCL in every way, and prints what it says: the same with us and without.
//   asks NAME...      each name in turn; built with -DASKS_LINKED it is linked to OpenCL as well
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef ASKS_LINKED
int clGetPlatformIDs(unsigned, void*, unsigned*);
#endif

static const char* const functions[] = {
    "clGetPlatformIDs", "clCreateContext", "clCreateBufferWithProperties", "clSetContextDestructorCallback",
    "clCreateEventFromEGLSyncKHR", "clCommandNDRangeKernelKHR", "clInitLayer", "clGetLayerInfo", "clNotThere",
    "gt_interposed_library", "malloc", "pthread_create", "dlopen", "execve",
};

static const char* said(void) {
  const char* text = dlerror();
  return text ? text : "-";
}

static const char* library_of(void* function) {
  Dl_info info;
  if (!dladdr(function, &info)) return "?";
  const char* slash = strrchr(info.dli_fname, '/');
  return slash ? slash + 1 : info.dli_fname;
}

// Where it comes from is the system's business but for OpenCL's, which may be ours.
static void show(const char* how, const char* name, void* found) {
  const int opencl = name[0] == 'c';
  printf("  %s %s: %s %s\n", how, name, found ? opencl ? "found" : library_of(found) : "nothing", found ? "" : said());
}

static void ask_scopes(void) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    if (functions[i][0] != 'c' && functions[i][0] != 'g') continue;
    show("default", functions[i], dlsym(RTLD_DEFAULT, functions[i]));
    show("next", functions[i], dlsym(RTLD_NEXT, functions[i]));
    show("program", functions[i], dlsym(dlopen(NULL, RTLD_NOW), functions[i]));
  }
}

static void* open_as(const char* name, const char* how, int flags) {
  void* handle = dlopen(name, flags);
  printf("%s %s: %s\n", how, name, handle ? "opened" : said());
  if (handle) printf("  left: %s\n", said());
  return handle;
}

static void ask_handle(void* handle) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)
    show("handle", functions[i], dlsym(handle, functions[i]));
  show("1.0", "clGetPlatformIDs", dlvsym(handle, "clGetPlatformIDs", "OPENCL_1.0"));
  show("9.0", "clGetPlatformIDs", dlvsym(handle, "clGetPlatformIDs", "OPENCL_9.0"));
  unsigned count = 0;
  int (*list)(unsigned, void*, unsigned*) = (int (*)(unsigned, void*, unsigned*))dlsym(handle, "clGetPlatformIDs");
  if (list) printf("  called: %d\n", list(0, NULL, &count));
}

static void ask(const char* name) {
  void* early = open_as(name, "loaded before", RTLD_NOW | RTLD_NOLOAD);
  if (early) dlclose(early);
  open_as(name, "no mode", 0);
  void* handle = open_as(name, "now", RTLD_NOW);
  if (!handle) return;
  ask_handle(handle);
  ask_scopes();
  void* again = open_as(name, "loaded", RTLD_LAZY | RTLD_NOLOAD);
  printf("  same handle: %d, closes: %d %d\n", again == handle, again ? dlclose(again) : -1, dlclose(handle));
  void* global = open_as(name, "global", RTLD_LAZY | RTLD_GLOBAL);
  ask_scopes();
  void* base = dlmopen(LM_ID_BASE, name, RTLD_NOW);
  printf("dlmopen: same handle: %d %s\n", base == global, base ? "" : said());
  printf("missing afterwards: %d %s\n", dlopen("libOpenCL.so.9", RTLD_NOW) != NULL, said());
  printf("and then nothing: %s\n", said());
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOFBF, 1 << 16);
#ifdef ASKS_LINKED
  unsigned count = 0;
  if (argc < 1) clGetPlatformIDs(0, NULL, &count);
#endif
  ask_scopes();
  for (int i = 1; i < argc; ++i) ask(argv[i]);
  return 0;
}
