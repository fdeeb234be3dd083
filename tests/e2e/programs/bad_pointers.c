/* Calls that a driver refuses before it follows any pointer, with pointers that lead nowhere. Bare, it prints the codes
 * and ends well: a tool that looks at the arguments first must not crash it. */
#define _GNU_SOURCE
#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BAD(type, n) ((type)(uintptr_t)(n))

/* What a thread leaves: a pointer into its stack, which is too large for the C library to keep. */
static void* leave_a_pointer(void* out) {
  char here[64] = {0};
  *(uintptr_t*)out = (uintptr_t)here;
  printf("%d\n", clSetKernelArg(NULL, 0, sizeof here, here));
  printf("%d\n", clEnqueueMarkerWithWaitList(NULL, 4, (const cl_event*)(void*)here, NULL));
  return NULL;
}

static void ended_thread(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  volatile uintptr_t dangling = 0;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 128 << 20);
  if (pthread_create(&thread, &attributes, leave_a_pointer, (void*)&dangling) != 0) exit(1);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  printf("%d\n", clSetKernelArg(NULL, 0, 64, BAD(void*, dangling)));
  printf("%d\n", clEnqueueMarkerWithWaitList(NULL, 4, BAD(const cl_event*, dangling), NULL));
}

/* The end of the heap, which the C library gives back when enough of it is free. */
static void shrunk_heap(void) {
  enum { Blocks = 400, Bytes = 100000 };
  static char* blocks[Blocks];
  for (int i = 0; i < Blocks; ++i) blocks[i] = malloc(Bytes);
  const volatile uintptr_t dangling = (uintptr_t)blocks[Blocks - 1];
  printf("%d\n", clSetKernelArg(NULL, 0, 4096, blocks[Blocks - 1]));
  for (int i = Blocks; i-- > 0;) free(blocks[i]);
  printf("%d\n", clSetKernelArg(NULL, 0, 4096, BAD(void*, dangling)));
}

static void closed_library(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  const char* data = library ? dlsym(library, "left_behind") : NULL;
  if (!data) exit(1);
  const volatile uintptr_t dangling = (uintptr_t)data;
  printf("%d\n", clSetKernelArg(NULL, 0, 4096, data));
  dlclose(library);
  printf("%d\n", clSetKernelArg(NULL, 0, 4096, BAD(void*, dangling)));
}

int main(int argc, char** argv) {
  /* Two pages, the second one not to be touched. */
  char* pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE) != 0) return 1;
  memset(pages, 'x', 4096); /* text without an end */
  const size_t* sizes = (const size_t*)(pages + 4096 - 8);
  const cl_event* nowhere = BAD(const cl_event*, 16);
  cl_int error = 0;

  printf("%d\n",
         clEnqueueNDRangeKernel(NULL, NULL, 3, BAD(size_t*, 64), sizes, BAD(size_t*, ~0ull), 1000000, nowhere, NULL));
  printf("%d\n", clEnqueueReadBuffer(NULL, NULL, CL_TRUE, 0, 1 << 20, BAD(void*, 4), 3, nowhere, NULL));
  printf("%d\n", clEnqueueWriteBufferRect(NULL, NULL, CL_TRUE, BAD(size_t*, 8), BAD(size_t*, 8), BAD(size_t*, 8), 0, 0,
                                          0, 0, BAD(void*, 8), 0, NULL, NULL));
  printf("%d\n", clEnqueueWriteImage(NULL, NULL, CL_TRUE, sizes, sizes, 0, 0, pages, 0, NULL, NULL));
  printf("%d\n", clEnqueueFillBuffer(NULL, NULL, BAD(void*, 0xdead0000), 16, 0, 64, 0, NULL, NULL));
  printf("%d\n", clSetKernelArg(NULL, 0, 8, BAD(void*, 0xdeadbeefdeadbeefull)));
  printf("%d\n", clSetKernelArg(NULL, 0, (size_t)-1, pages));
  printf("%d\n", clBuildProgram(NULL, 4000000000u, BAD(cl_device_id*, 24), pages, NULL, NULL));
  clCreateProgramWithSource(NULL, 4000000000u, BAD(const char**, 32), NULL, &error);
  printf("%d\n", error);
  clCreateProgramWithSource(NULL, 1, (const char*[]){pages}, NULL, &error);
  printf("%d\n", error);
  clCreateKernel(NULL, pages + 100, &error);
  printf("%d\n", error);
  clCreateImage(NULL, CL_MEM_COPY_HOST_PTR, BAD(cl_image_format*, 8), BAD(cl_image_desc*, 8), pages, &error);
  printf("%d\n", error);
  clCreateCommandQueueWithProperties(NULL, NULL, (const cl_queue_properties*)(pages + 4096 - 16), &error);
  printf("%d\n", error);
  printf("%d\n", clSetKernelExecInfo(NULL, CL_KERNEL_EXEC_INFO_SVM_PTRS, 1 << 30, pages));
  /* Lists that could be read, but are too long for any record. */
  cl_event* many = calloc(400000, sizeof *many);
  printf("%d\n", clEnqueueMarkerWithWaitList(NULL, 400000, many, NULL));
  printf("%d\n", clWaitForEvents(0, many));
  free(many);
  /* Memory that could be read when the first call asked, and is gone when the second one does. */
  char* mapped = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* block = malloc(1 << 20);
  const volatile uintptr_t dangling = (uintptr_t)block;
  printf("%d\n", clSetKernelArg(NULL, 0, 4096, mapped + 2048));
  printf("%d\n", clSetKernelArg(NULL, 0, 4096, block));
  munmap(mapped, 8192);
  free(block);
  printf("%d\n", clSetKernelArg(NULL, 0, 4096, mapped + 2048));
  printf("%d\n", clSetKernelArg(NULL, 0, 4096, BAD(void*, dangling)));
  ended_thread();
  shrunk_heap();
  if (argc > 1) closed_library(argv[1]);
  printf("survived\n");
  return 0;
}
