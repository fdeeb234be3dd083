// Transfers that wait for a user event, and blocking ones behind them, by a program that tries again whatever fails:
// its data are right in the end whichever call a driver refuses. Prints what it saw, the same on every run.
//
//   waiting background|small|gated|alone|failing [INJECTED]
//
// INJECTED: the error that the driver is told to give now and then; every other one is printed.
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/optimizer/contents.h"

enum { Large = 1200000, Small = 40000, MostTries = 20, Seconds = 30 };
static int g_injected;

static cl_int judged(cl_int err, const char* call) {
  if (err != CL_SUCCESS && err != g_injected) printf("%s: error %d\n", call, err);
  return err;
}

// Evaluates the call until it gives CL_SUCCESS.
#define MUST(call)                                \
  do {                                            \
    int tries = 0;                                \
    while (judged((call), #call) != CL_SUCCESS) { \
      if (++tries < MostTries) continue;          \
      printf("%s fails for ever\n", #call);       \
      exit(1);                                    \
    }                                             \
  } while (0)

static cl_device_id g_device;
static cl_context g_context;
static cl_command_queue g_queue;
static cl_mem g_there, g_copied;
static cl_event g_user;
static unsigned char g_first[Large], g_second[Large], g_back[Large];

static cl_int status_of(cl_event event) {
  cl_int status = 0;
  MUST(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
  return status;
}

static void make_user_event(void) {
  cl_int err;
  MUST((g_user = clCreateUserEvent(g_context, &err), err));
}

static void enqueue_write(const void* p, size_t n, cl_bool blocking, cl_event* event) {
  const cl_uint waits = g_user && !blocking ? 1 : 0;
  MUST(clEnqueueWriteBuffer(g_queue, g_there, blocking, 3, n, p, waits, waits ? &g_user : NULL, event));
}
static void enqueue_read(void* p, size_t n, cl_bool blocking, cl_event* event) {
  MUST(clEnqueueReadBuffer(g_queue, g_copied, blocking, 3, n, p, 0, NULL, event));
}
static void enqueue_copy(size_t n) {
  MUST(clEnqueueCopyBuffer(g_queue, g_there, g_copied, 3, 3, n, 0, NULL, NULL));
}

// The status of a transfer whose event is over; lets the event go. An injected error may come out of it.
static cl_int outcome(cl_event event) {
  const cl_int status = status_of(event);
  MUST(clReleaseEvent(event));
  return status == CL_COMPLETE ? CL_SUCCESS : judged(status, "an event");
}

// Nobody waits: write, copy and read behind a user event, which ends with `end`. The transfers' outcomes in `out`.
static void in_background(size_t n, cl_int end, cl_int out[2]) {
  cl_event events[2];
  make_user_event();
  enqueue_write(g_first, n, CL_FALSE, &events[0]);
  enqueue_copy(n);
  enqueue_read(g_back, n, CL_FALSE, &events[1]);
  MUST(clFlush(g_queue));
  usleep(2000);  // who does not wait has the time to go wrong
  if (status_of(events[0]) <= CL_COMPLETE || status_of(events[1]) <= CL_COMPLETE) printf("not held\n");
  MUST(clSetUserEventStatus(g_user, end));
  MUST(clFinish(g_queue));
  MUST(clReleaseEvent(g_user));
  g_user = NULL;
  for (int i = 0; i < 2; ++i) out[i] = outcome(events[i]);
}

static void background(size_t n) {
  cl_int out[2] = {1, 1};
  for (int tries = 0; tries < MostTries && (out[0] || out[1]); ++tries) in_background(n, CL_COMPLETE, out);
  printf("background %zu: %s\n", n, memcmp(g_first, g_back, n) == 0 ? "right" : "WRONG");
}

static void failing(void) {
  cl_int out[2];
  memset(g_back, 1, Large);
  in_background(Large, -77, out);
  printf("failed: %d %d\n", out[0], out[1]);
  for (size_t i = 0; i < Large; i += 4099) printf("%d%s", g_back[i], i + 4099 < Large ? "" : "\n");
}

static void* completes(void* unused) {
  (void)unused;
  MUST(clFlush(g_queue));
  usleep(5000);
  MUST(clSetUserEventStatus(g_user, CL_COMPLETE));
  return NULL;
}

// The calling thread waits; with `held`, behind a transfer that waits for another thread's event.
static void blocking(int held) {
  pthread_t other;
  cl_event first;
  if (held) {
    make_user_event();
    enqueue_write(g_second, Large, CL_FALSE, &first);
    pthread_create(&other, NULL, completes, NULL);
  }
  enqueue_write(g_first, Large, CL_TRUE, NULL);
  enqueue_copy(Large);
  enqueue_read(g_back, Large, CL_TRUE, NULL);
  printf("blocking: %s\n", memcmp(g_first, g_back, Large) == 0 ? "right" : "WRONG");
  if (!held) return;
  pthread_join(other, NULL);
  outcome(first);
  MUST(clReleaseEvent(g_user));
  g_user = NULL;
}

int main(int argc, char** argv) {
  cl_platform_id platform;
  cl_int err;
  const char* way = argc > 1 ? argv[1] : "background";
  const unsigned char zero = 0;
  g_injected = argc > 2 ? atoi(argv[2]) : 0;
  alarm(Seconds);
  setvbuf(stdout, NULL, _IOLBF, 0);
  MUST(clGetPlatformIDs(1, &platform, NULL));
  MUST(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &g_device, NULL));
  MUST((g_context = clCreateContext(NULL, 1, &g_device, NULL, NULL, &err), err));
  MUST((g_queue = clCreateCommandQueue(g_context, g_device, 0, &err), err));
  MUST((g_there = clCreateBuffer(g_context, CL_MEM_READ_WRITE, Large + 3, NULL, &err), err));
  MUST((g_copied = clCreateBuffer(g_context, CL_MEM_READ_WRITE, Large + 3, NULL, &err), err));
  MUST(clEnqueueFillBuffer(g_queue, g_copied, &zero, 1, 0, Large + 3, 0, NULL, NULL));
  MUST(clEnqueueFillBuffer(g_queue, g_there, &zero, 1, 0, Large + 3, 0, NULL, NULL));
  for (unsigned round = 0; round < 2; ++round) {
    fill(g_first, Large, round);
    fill(g_second, Large, round + 50);
    if (strcmp(way, "background") == 0) background(Large);
    if (strcmp(way, "small") == 0) background(Small);
    if (strcmp(way, "gated") == 0) blocking(1);
    if (strcmp(way, "alone") == 0) blocking(0);
    if (strcmp(way, "failing") == 0) failing();
  }
  MUST(clReleaseMemObject(g_copied));
  MUST(clReleaseMemObject(g_there));
  MUST(clReleaseCommandQueue(g_queue));
  MUST(clReleaseContext(g_context));
  return 0;
}
