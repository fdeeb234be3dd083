// The way programs hide the language behind macros, and what vendors add to it.
// options -DTHREADS=64 -DREAL=float -DREAL4=float4 -DUNROLL -cl-fast-relaxed-math -cl-nv-verbose -I.
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define KERNEL __kernel
#define GLOBAL __global
#define LOCAL __local
#define CONSTANT __constant
#define RESTRICT restrict
#else
#error "not OpenCL"
#endif
#pragma OPENCL EXTENSION cl_khr_global_int32_base_atomics : enable
#pragma OPENCL EXTENSION cl_vendor_secret : disable
#pragma OPENCL FP_CONTRACT OFF
#ifdef UNROLL
#define LOOP(n) _Pragma("unroll") for (int i = 0; i < n; ++i)
#else
#define LOOP(n) for (int i = 0; i < n; ++i)
#endif
#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define NAME(x) CONCAT(x, REAL)
#define IN(T) GLOBAL const T* RESTRICT
#define OUT(T) GLOBAL T* RESTRICT
#define STORE4(v, i, p) vstore4(v, i, p)
#define INLINE static inline __attribute__((always_inline))

INLINE REAL NAME(square_)(REAL x) { return x * x; }
INLINE void NAME(emit_)(OUT(REAL) to, int i, REAL v) { to[i] = NAME(square_)(v); }

// expect squares_float: in=read out=write
KERNEL __attribute__((reqd_work_group_size(THREADS, 1, 1))) void NAME(squares_)(IN(REAL) in, OUT(REAL) out) {
  LOOP(4) NAME(emit_)(out, 4 * get_global_id(0) + i, in[4 * get_global_id(0) + i]);
}
// expect hinted: in=read out=write
__attribute__((vec_type_hint(float4))) __attribute__((work_group_size_hint(64, 1, 1)))
KERNEL void hinted(IN(REAL) in, OUT(REAL) out) {
  __attribute__((opencl_unroll_hint(2)))
  for (int i = 0; i < 8; ++i) STORE4(vload4(i, in), i, out);
}
// expect macro_update: x=read_write table=constant:read
KERNEL void macro_update(GLOBAL REAL4* x, CONSTANT REAL* table) {
#define UPDATE(field) x[get_global_id(0)].field += table[0];
  UPDATE(x) UPDATE(y) UPDATE(z)
#undef UPDATE
}
// expect disabled: in=none out=write
KERNEL void disabled(IN(REAL) in, OUT(REAL) out) {
#if 0
  out[0] = in[0];
#endif
  out[1] = sizeof(in[0]);
}
// expect packed: data=read out=write
typedef struct __attribute__((packed)) { uchar kind; uint size __attribute__((aligned(1))); } Packet;
KERNEL void packed(GLOBAL const uchar* data, OUT(uint) out) {
  GLOBAL const Packet* p = (GLOBAL const Packet*)data;
  while (p->kind) p = (GLOBAL const Packet*)((GLOBAL const uchar*)p + p->size);
  out[0] = (GLOBAL const uchar*)p - data;
}
// expect group_copy: in=read out=write tile=local:read_write
KERNEL void group_copy(IN(REAL) in, OUT(REAL) out, LOCAL REAL* tile) {
  event_t e = async_work_group_strided_copy(tile, in, THREADS, 2, 0);
  wait_group_events(1, &e);
  prefetch(in + THREADS, THREADS);
  e = async_work_group_copy(out, tile, THREADS, 0);
  wait_group_events(1, &e);
}
