// Layers of neural networks, random numbers, prices.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef struct { uint x, y, z, w; } Random;

uint next(Random* r) {
  const uint t = r->x ^ (r->x << 11);
  r->x = r->y; r->y = r->z; r->z = r->w;
  return r->w ^= (r->w >> 19) ^ t ^ (t >> 8);
}
float cnd(float d) { return 0.5f * erfc(-d * M_SQRT1_2_F); }

// expect relu: x=read_write
kernel void relu(global float* x) { x[get_global_id(0)] = fmax(x[get_global_id(0)], 0.0f); }
// expect relu_gradient: x=read dy=read dx=write
kernel void relu_gradient(global const float* x, global const float* dy, global float* dx) {
  const size_t i = get_global_id(0);
  dx[i] = x[i] > 0 ? dy[i] : 0;
}
// expect softmax: in=read out=read_write n=value
kernel void softmax(global const float* in, global float* out, int n) {
  float top = -INFINITY, sum = 0;
  for (int i = 0; i < n; ++i) top = fmax(top, in[i]);
  for (int i = 0; i < n; ++i) sum += out[i] = exp(in[i] - top);
  for (int i = 0; i < n; ++i) out[i] /= sum;
}
// expect batch_norm: x=read mean=read variance=read y=write
kernel void batch_norm(global const float* x, global const float* mean, global const float* variance, global float* y) {
  const size_t c = get_global_id(1), i = c * get_global_size(0) + get_global_id(0);
  y[i] = (x[i] - mean[c]) * rsqrt(variance[c] + 1e-5f);
}
// expect max_pool: in=read out=write where=write w=value
kernel void max_pool(global const float* in, global float* out, global int* where, int w) {
  int best = 2 * (get_global_id(1) * w + get_global_id(0));
  for (int k = 1; k < 4; ++k) {
    const int at = best + (k & 1) + (k >> 1) * w;
    if (in[at] > in[best]) best = at;
  }
  out[get_global_id(0)] = in[best];
  where[get_global_id(0)] = best;
}
// expect im2col: in=read out=write w=value k=value
kernel void im2col(global const float* in, global float* out, int w, int k) {
  global float* to = out + get_global_id(0) * k * k;
  for (int y = 0; y < k; ++y)
    for (int x = 0; x < k; ++x) *to++ = in[y * w + x + get_global_id(0)];
}
// expect half_scale: in=read out=write f=value
kernel void half_scale(global const half* in, global half* out, float f) {
  vstore_half4_rte(vload_half4(get_global_id(0), in) * f, get_global_id(0), out);
}
// expect adam: w=read_write g=read m=read_write v=read_write rate=value
kernel void adam(global float* w, global const float* g, global float* m, global float* v, float rate) {
  const size_t i = get_global_id(0);
  m[i] = 0.9f * m[i] + 0.1f * g[i];
  v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
  w[i] -= rate * m[i] / (sqrt(v[i]) + 1e-8f);
}
// expect dropout: x=write mask=write states=read_write
kernel void dropout(global float* x, global uchar* mask, global Random* states) {
  Random r = states[get_global_id(0)];
  const uchar keep = next(&r) & 1;
  mask[get_global_id(0)] = keep;
  if (!keep) x[get_global_id(0)] = 0;
  states[get_global_id(0)] = r;
}
// expect black_scholes: s=read k=read t=read call=write put=write
kernel void black_scholes(global const float4* s, global const float4* k, global const float4* t, global float4* call,
                          global float4* put) {
  const size_t i = get_global_id(0);
  const float4 d = log(s[i] / k[i]) / sqrt(t[i]);
  const float4 c = s[i] * (float4)(cnd(d.x), cnd(d.y), cnd(d.z), cnd(d.w));
  call[i] = c;
  put[i] = k[i] - s[i] + c;
}
// expect seed: states=write from=value
kernel void seed(global Random* states, uint from) {
  const Random r = {from, from ^ get_global_id(0), 3, 4};
  states[get_global_id(0)] = r;
}
