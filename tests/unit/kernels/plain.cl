// Kernels whose accesses are plain to see. `// expect` lines are the answers, worked out by hand.
#define STORE(p, i, v) p[i] = v
#define LOAD(p, i) ((p)[i])
typedef struct { float mass; float4 place; float history[4]; } Body;

// expect vadd: a=read b=read c=write n=value
kernel void vadd(global const float* a, global const float* b, global float* c, int n) {
  const int i = get_global_id(0);
  if (i < n) c[i] = a[i] + b[i];
}
// expect scale: x=read_write f=value
kernel void scale(global float* x, float f) { x[get_global_id(0)] *= f; }
// expect count: x=read_write
kernel void count(global int* x) { x[0]++; }
// expect predecrement: x=read_write
kernel void predecrement(global int* x) { --*x; }
// expect unused: a=none b=write
kernel void unused(global float* a, global float* b) { b[0] = 1.0f; }
// expect gather: index=read in=read out=write
kernel void gather(global const int* index, global const float* in, global float* out) {
  const int i = get_global_id(0);
  out[i] = in[index[i]];
}
// expect scatter: index=read in=read out=write
kernel void scatter(global int* index, global float* in, global float* out) {
  out[index[get_global_id(0)]] = in[get_global_id(0)];
}
// expect macros: a=read b=write
kernel void macros(global float* a, global float* b) { STORE(b, 0, LOAD(a, 1) * LOAD(a, 2)); }
// expect constants: t=constant:read out=write
kernel void constants(constant float* t, global float* out) { out[0] = t[3]; }
// expect locals: in=read out=write tile=local:read_write
kernel void locals(global const float* in, global float* out, local float* tile) {
  const int l = get_local_id(0);
  tile[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = tile[l ^ 1];
}
// expect chain: a=write b=write c=read
kernel void chain(global int* a, global int* b, global int* c) { a[0] = b[0] = c[0]; }
// expect structs: b=read_write
kernel void structs(global Body* b) { b->mass = b[1].place.x; }
// expect structs_write: b=write
kernel void structs_write(global Body* b) {
  b[1].mass = 1.0f;
  b->place.xy = (float2)(1.0f, 2.0f);
  b->history[2] = 3.0f;
}
// expect structs_read: b=read out=write
kernel void structs_read(global Body* b, global float* out) {
  const Body one = b[2];
  out[0] = one.mass + b->history[1] + b->place.w;
}
// expect size_only: a=none out=write
kernel void size_only(global Body* a, global int* out) { out[0] = (int)sizeof(a[0]) + (int)sizeof(*a); }
// expect address_only: a=none out=write
kernel void address_only(global float* a, global int* out) { out[0] = &a[4] > &a[2]; }
// expect null_test: a=none out=write
kernel void null_test(global float* a, global int* out) { if (a) out[0] = 1; }
// expect early: a=read b=write
kernel void early(global int* a, global int* b) {
  for (int i = 0; i < 8; ++i) {
    if (a[i] < 0) return;
    b[i] = i;
  }
}
// expect choice: a=read b=read out=write
kernel void choice(global int* a, global int* b, global int* out) { out[0] = a[0] > 0 ? b[0] : 7; }
// expect dense: m=write
kernel void dense(global float (*m)[16]) { m[get_global_id(1)][get_global_id(0)] = 0.0f; }
