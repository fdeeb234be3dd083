// Kernels that are different on different devices: the answer holds for each of them.
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#else
typedef float real;
#endif
#if defined(__NV_CL_C_VERSION)
#define LOG(p) p[0] = 1
#elif defined(cl_amd_printf)
#define LOG(p) p[1] = p[2]
#else
#define LOG(p)
#endif

// expect wide: in=read out=write
kernel void wide(global const real* in, global real* out) { out[get_global_id(0)] = 2 * in[get_global_id(0)]; }
// expect logged: in=read log=read_write
kernel void logged(global const float* in, global int* log) {
  if (in[0] > 1) LOG(log);
}
// expect fallback: a=read b=write c=write
kernel void fallback(global int* a, global int* b, global int* c) {
#ifdef cl_intel_subgroups
  b[0] = a[0];
#else
  c[0] = a[0];
#endif
}

// expect has_builtin: a=read_write
kernel void has_builtin(global int* a) {
#if __has_builtin(__builtin_one_that_nobody_has)
  a[0] = 1;
#else
  a[0] += a[1];
#endif
#if __has_builtin(__builtin_memcpy)
#else
  a[2] = a[3];
#endif
}
// expect has_one: a=read b=write
kernel void has_one(global int* a, global int* b) {
#ifdef __has_builtin
#if __has_builtin(__builtin_expect)
  b[0] = 1;
#else
  b[0] = a[0];
#endif
#endif
}
