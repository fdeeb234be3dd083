// OpenCL drivers that a proxy must live with: one that crashes when it is asked for its platforms, one that never
// answers, one whose platform has no devices. GT_BAD says which (crash, hang, empty).
#include <CL/cl_icd.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { crash, hang, empty };

#define EXPORT __attribute__((visibility("default")))

struct _cl_platform_id {
  struct _cl_icd_dispatch* dispatch;
};

static cl_int CL_API_CALL platform_info(cl_platform_id p, cl_platform_info what, size_t room, void* to, size_t* size) {
  (void)p;
  const char* text = "Empty";
  if (what == CL_PLATFORM_ICD_SUFFIX_KHR) text = "EMPTY";
  if (what == CL_PLATFORM_EXTENSIONS) text = "cl_khr_icd";
  if (what == CL_PLATFORM_VERSION) text = "OpenCL 1.2 empty";
  if (what == CL_PLATFORM_PROFILE) text = "FULL_PROFILE";
  const size_t bytes = strlen(text) + 1;
  if (to && room < bytes) return CL_INVALID_VALUE;
  if (to) memcpy(to, text, bytes);
  if (size) *size = bytes;
  return CL_SUCCESS;
}

static cl_int CL_API_CALL device_ids(cl_platform_id p, cl_device_type t, cl_uint room, cl_device_id* to, cl_uint* n) {
  (void)p, (void)t, (void)room, (void)to;
  if (n) *n = 0;
  return CL_DEVICE_NOT_FOUND;
}

static struct _cl_icd_dispatch dispatch;
static struct _cl_platform_id platform = {&dispatch};

EXPORT cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id* to, cl_uint* n) {
  if (GT_BAD == crash) raise(SIGSEGV);
  while (GT_BAD == hang) pause();
  dispatch.clGetPlatformInfo = platform_info;
  dispatch.clGetDeviceIDs = device_ids;
  if (to && room > 0) *to = &platform;
  if (n) *n = 1;
  return CL_SUCCESS;
}

EXPORT cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t room, void* to,
                                            size_t* size) {
  return platform_info(p, what, room, to, size);
}

EXPORT void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  if (strcmp(name, "clIcdGetPlatformIDsKHR") == 0) return (void*)clIcdGetPlatformIDsKHR;
  return strcmp(name, "clGetPlatformInfo") == 0 ? (void*)clGetPlatformInfo : 0;
}
