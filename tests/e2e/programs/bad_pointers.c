/* Calls that a driver refuses before it follows any pointer, with pointers that lead nowhere. Bare, it prints the codes
 * and ends well: a tool that looks at the arguments first must not crash it. */
#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BAD(type, n) ((type)(uintptr_t)(n))

int main(void) {
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
  printf("survived\n");
  return 0;
}
