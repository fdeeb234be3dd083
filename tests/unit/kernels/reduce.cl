// Reductions, scans, compaction.
float block_sum(local float* s, float v) {
  const int l = get_local_id(0);
  s[l] = v;
  for (int d = get_local_size(0) >> 1; d; d >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < d) s[l] += s[l + d];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return s[0];
}
void scan_local(local uint* s, uint n) {
  const uint l = get_local_id(0);
  for (uint d = 1; d < n; d <<= 1) {
    const uint v = l >= d ? s[l - d] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    s[l] += v;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
// A floating-point sum by compare-and-exchange: the target is read as a number of the same size.
void add_float(volatile global float* to, float v) {
  union { uint bits; float f; } was, is;
  do {
    was.f = *to;
    is.f = was.f + v;
  } while (atomic_cmpxchg((volatile global uint*)to, was.bits, is.bits) != was.bits);
}

// expect reduce: in=read out=write s=local:read_write
kernel void reduce(global const float* in, global float* out, local float* s) {
  const float sum = block_sum(s, in[get_global_id(0)]);
  if (get_local_id(0) == 0) out[get_group_id(0)] = sum;
}
// expect reduce_atomic: in=read sum=read_write s=local:read_write
kernel void reduce_atomic(global const float* in, global float* sum, local float* s) {
  const float part = block_sum(s, in[get_global_id(0)]);
  if (get_local_id(0) == 0) add_float(sum, part);
}
// expect minmax: in=read range=read_write
kernel void minmax(global const int4* in, global int* range) {
  const int4 v = in[get_global_id(0)];
  atomic_min(range, min(min(v.x, v.y), min(v.z, v.w)));
  atomic_max(range + 1, max(max(v.x, v.y), max(v.z, v.w)));
}
// expect scan: in=read out=write sums=write s=local:read_write
kernel void scan(global const uint* in, global uint* out, global uint* sums, local uint* s) {
  s[get_local_id(0)] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  scan_local(s, get_local_size(0));
  out[get_global_id(0)] = s[get_local_id(0)];
  if (get_local_id(0) == get_local_size(0) - 1) sums[get_group_id(0)] = s[get_local_id(0)];
}
// expect add_sums: out=read_write sums=read
kernel void add_sums(global uint* out, global const uint* sums) {
  if (get_group_id(0)) out[get_global_id(0)] += sums[get_group_id(0) - 1];
}
// expect compact: in=read out=write count=read_write
kernel void compact(global const float* in, global float* out, volatile global int* count) {
  const float v = in[get_global_id(0)];
  if (v > 0) out[atomic_inc(count)] = v;
}
// expect downsweep: data=read_write stride=value
kernel void downsweep(global uint* data, int stride) {
  const int i = (get_global_id(0) + 1) * stride * 2 - 1;
  const uint left = data[i - stride];
  data[i - stride] = data[i];
  data[i] += left;
}
// expect mean: in=read n=value out=write
kernel void mean(global const float8* in, int n, global float* out) {
  float8 sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  const float4 half_sum = sum.lo + sum.hi;
  out[0] = dot(half_sum, (float4)(1)) / (8 * n);
}
