/* Commands whose times are asked for, for some seconds. Prints how many us an END was after the program knew of it, at
   most; natively none is.

     timed_commands SECONDS */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static cl_ulong now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (cl_ulong)t.tv_sec * 1000000000u + (cl_ulong)t.tv_nsec;
}

static cl_ulong time_of(cl_event event, cl_profiling_info what) {
  cl_ulong t = 0;
  if (clGetEventProfilingInfo(event, what, sizeof t, &t, NULL) != CL_SUCCESS) exit(2);
  return t;
}

int main(int argc, char** argv) {
  static char bytes[4096];
  const struct timespec pause = {0, 20000000};
  const cl_ulong end = now() + (argc > 1 ? (cl_ulong)atoi(argv[1]) : 1) * 1000000000u;
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return 2;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, NULL);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof bytes, NULL, NULL);
  cl_ulong before = 0, late = 0;
  while (now() < end) {
    cl_event event;
    if (clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof bytes, bytes, 0, NULL, &event)) return 2;
    if (clWaitForEvents(1, &event)) return 2;
    const cl_ulong known = now();
    const cl_ulong times[] = {time_of(event, CL_PROFILING_COMMAND_QUEUED), time_of(event, CL_PROFILING_COMMAND_SUBMIT),
                              time_of(event, CL_PROFILING_COMMAND_START), time_of(event, CL_PROFILING_COMMAND_END)};
    for (int i = 1; i < 4; ++i)
      if (times[i] < times[i - 1]) return printf("its times are out of order\n"), 1;
    if (times[2] + 1 < before) return printf("it began before the one in front of it ended\n"), 1;
    before = times[3];
    if (before > known && before - known > late) late = before - known;
    clReleaseEvent(event);
    nanosleep(&pause, NULL);
  }
  printf("%lu\n", (unsigned long)(late / 1000));
  clReleaseMemObject(buffer);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
