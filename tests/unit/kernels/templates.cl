// Kernels that macros make, one for each type and operation.
#define MAP(name, T, expr) \
  kernel void name(global const T* in, global T* out) { \
    const T x = in[get_global_id(0)]; \
    out[get_global_id(0)] = expr; \
  }
#define IN_PLACE(name, T, op) kernel void name(global T* x, T v) { x[get_global_id(0)] op v; }
#define SELECT(T) T select_##T(T a, T b, bool c) { return c ? a : b; }
#define FOLD(name, T, start, combine) \
  kernel void name(global const T* in, global T* out, uint n) { \
    T a = start; \
    for (uint i = 0; i < n; ++i) { const T b = in[i]; a = combine; } \
    *out = a; \
  }
SELECT(int)
// expect map_exp: in=read out=write
MAP(map_exp, float, exp(x))
// expect map_sign: in=read out=write
MAP(map_sign, int, select_int(-1, 1, x > 0))
// expect map_constant: in=read out=write
MAP(map_constant, int, 7)
// expect set_to: x=write v=value
IN_PLACE(set_to, float, =)
// expect shift_by: x=read_write v=value
IN_PLACE(shift_by, uint, <<=)
// expect fold_max: in=read out=write n=value
FOLD(fold_max, float, -INFINITY, fmax(a, b))
// expect fold_count: in=read out=write n=value
FOLD(fold_count, int, 0, a + (b != 0))
