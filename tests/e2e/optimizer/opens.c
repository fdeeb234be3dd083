/* A program that opens devices, in the order of its arguments, and does nothing with them:
     PLATFORM        a context on all devices of the platform whose name contains that
     type=PLATFORM   the same by clCreateContextFromType
     fork=PLATFORM   by a forked child, which is waited for
     threads=PLATFORM  by four threads at once
     list            lists all devices, opens none
     sleep=MS        nothing
   Prints a line for each. */
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most = 16, threads = 4 };

static void must(int ok, const char* what) {
  if (ok) return;
  printf("%s failed\n", what);
  fflush(stdout);
  _Exit(1);
}

static cl_platform_id named(const char* wanted) {
  cl_platform_id list[most];
  cl_uint count = 0;
  must(clGetPlatformIDs(most, list, &count) == CL_SUCCESS, "clGetPlatformIDs");
  for (cl_uint i = 0; i < count && i < most; ++i) {
    char name[256] = "";
    clGetPlatformInfo(list[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
    if (strstr(name, wanted)) return list[i];
  }
  must(0, wanted);
  return NULL;
}

static cl_uint list_devices(cl_platform_id platform, cl_device_id* devices) {
  cl_uint count = 0;
  const cl_int err = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, most, devices, &count);
  return err == CL_SUCCESS ? (count < most ? count : most) : 0;
}

static void open_devices(const char* platform_name, int by_type) {
  cl_platform_id platform = named(platform_name);
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
  cl_device_id devices[most];
  cl_int err = CL_SUCCESS;
  const cl_uint count = list_devices(platform, devices);
  cl_context context = by_type ? clCreateContextFromType(properties, CL_DEVICE_TYPE_ALL, NULL, NULL, &err)
                               : clCreateContext(properties, count, devices, NULL, NULL, &err);
  must(context && err == CL_SUCCESS, "clCreateContext");
  must(clReleaseContext(context) == CL_SUCCESS, "clReleaseContext");
}

static void* opening(void* platform) {
  open_devices(platform, 0);
  return NULL;
}

static void by_threads(char* platform) {
  pthread_t list[threads];
  for (int i = 0; i < threads; ++i) must(pthread_create(&list[i], NULL, opening, platform) == 0, "pthread_create");
  for (int i = 0; i < threads; ++i) pthread_join(list[i], NULL);
}

static void by_child(const char* platform) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    open_devices(platform, 0);
    _exit(0);
  }
  int state = 0;
  must(child > 0 && waitpid(child, &state, 0) == child && state == 0, "the child");
}

static void list_all(void) {
  cl_platform_id list[most];
  cl_device_id devices[most];
  cl_uint count = 0;
  must(clGetPlatformIDs(most, list, &count) == CL_SUCCESS, "clGetPlatformIDs");
  for (cl_uint i = 0; i < count && i < most; ++i) list_devices(list[i], devices);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    char* const value = strchr(argv[i], '=') ? strchr(argv[i], '=') + 1 : argv[i];
    if (strcmp(argv[i], "list") == 0)
      list_all();
    else if (strncmp(argv[i], "type=", 5) == 0)
      open_devices(value, 1);
    else if (strncmp(argv[i], "fork=", 5) == 0)
      by_child(value);
    else if (strncmp(argv[i], "threads=", 8) == 0)
      by_threads(value);
    else if (strncmp(argv[i], "sleep=", 6) == 0)
      usleep(1000 * (useconds_t)atoi(value));
    else
      open_devices(value, 0);
    printf("%s\n", argv[i]);
    fflush(stdout);
  }
  return 0;
}
