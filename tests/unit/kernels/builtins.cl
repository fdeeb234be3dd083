// Built-in functions: vectors, atomics, asynchronous copies, images.
// expect vectors: a=read b=write
kernel void vectors(global const float* a, global float* b) {
  const size_t i = get_global_id(0);
  vstore4(vload4(i, a) * 2.0f, i, b);
}
// expect element: v=write
kernel void element(global float4* v) { v[0].x = 1.0f; v->yz = (float2)(1.0f, 2.0f); }
// expect element_read: v=read out=write
kernel void element_read(global float4* v, global float* out) { out[0] = v[0].x + v->y; }
// expect element_count: v=read_write
kernel void element_count(global int4* v) { v[0].x++; }
// expect swizzle: v=read_write
kernel void swizzle(global float4* v) { v[0].xyzw = v[1].wzyx; }
// expect atomics: a=read_write
kernel void atomics(global int* a) { atomic_add(a, 1); }
// expect old_atomics: a=read_write b=read
kernel void old_atomics(global int* a, global int* b) { atomic_cmpxchg(&a[b[0]], 0, 1); }
// expect copies: in=read out=write tile=local:read_write
kernel void copies(global const float* in, global float* out, local float* tile) {
  event_t e = async_work_group_copy(tile, in, 64, 0);
  wait_group_events(1, &e);
  e = async_work_group_copy(out, (local const float*)tile, 64, 0);
  wait_group_events(1, &e);
}
// expect parts: x=read whole=write
kernel void parts(global const float* x, global float* whole) {
  const float rest = fract(x[0], whole);
  (void)rest;
}
// expect prefetched: a=none
kernel void prefetched(global const float* a) { prefetch(a, 16); }
constant sampler_t Nearest = CLK_FILTER_NEAREST | CLK_ADDRESS_NONE | CLK_NORMALIZED_COORDS_FALSE;
// expect images: in=read out=write
kernel void images(read_only image2d_t in, write_only image2d_t out) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(out, at, read_imagef(in, Nearest, at));
}
// expect image_size: in=none out=write
kernel void image_size(read_only image2d_t in, global int* out) { out[0] = get_image_width(in); }
float4 sample(read_only image2d_t from, sampler_t s, int2 at) { return read_imagef(from, s, at); }
// expect image_helper: in=read s=value out=write
kernel void image_helper(read_only image2d_t in, sampler_t s, global float4* out) {
  out[0] = sample(in, s, (int2)(0, 0));
}
// expect halves: in=read out=write
kernel void halves(global const half* in, global half* out) { vstore_half(vload_half(0, in), 0, out); }
// expect printed: a=read
kernel void printed(global int* a) { printf("%d\n", a[0]); }

// expect nontemporal: a=read b=write
kernel void nontemporal(global float* a, global float* b) {
  __builtin_nontemporal_store(__builtin_nontemporal_load(a + 1) + 1, b);
}
// expect private_copies: a=read b=write
kernel void private_copies(global float* a, global float* b) {
  float from[2] = {a[0], a[1]}, to[2];
  __builtin_memcpy(to, from, sizeof to);
  b[0] = to[1];
}
