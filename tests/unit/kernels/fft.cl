// Transforms: private arrays handed to helpers, values returned in vectors.
#define SWAP(a, b) { float2 t_ = a; a = b; b = t_; }
#define FFT2(a, b) { const float2 t_ = a; a = t_ + b; b = t_ - b; }

float2 mul(float2 a, float2 b) { return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
float2 twiddle(int k, int n) {
  float c;
  const float s = sincos(-2 * M_PI_F * k / n, &c);
  return (float2)(c, s);
}
void fft4(float2* v) {
  FFT2(v[0], v[2]);
  FFT2(v[1], v[3]);
  v[3] = (float2)(v[3].y, -v[3].x);
  FFT2(v[0], v[1]);
  FFT2(v[2], v[3]);
  SWAP(v[1], v[2]);
}
void load4(float2* v, global const float2* from, int stride) {
  for (int i = 0; i < 4; ++i) v[i] = from[i * stride];
}
void store4(global float2* to, const float2* v, int stride) {
  for (int i = 0; i < 4; ++i) to[i * stride] = v[i];
}

// expect radix2: in=read out=write n=value p=value
kernel void radix2(global const float2* in, global float2* out, int n, int p) {
  const int i = get_global_id(0), k = i & (p - 1);
  const float2 a = in[i], b = mul(in[i + n / 2], twiddle(k, 2 * p));
  const int j = ((i - k) << 1) + k;
  out[j] = a + b;
  out[j + p] = a - b;
}
// expect radix4: data=read_write
kernel void radix4(global float2* data) {
  float2 v[4];
  load4(v, data + get_global_id(0), get_global_size(0));
  fft4(v);
  store4(data + get_global_id(0), v, get_global_size(0));
}
// expect radix4_apart: in=read out=write
kernel void radix4_apart(global float2* in, global float2* out) {
  float2 v[4];
  load4(v, in + get_global_id(0), get_global_size(0));
  fft4(v);
  store4(out + 4 * get_global_id(0), v, 1);
}
// expect bit_reverse: in=read out=write bits=value
kernel void bit_reverse(global const float2* in, global float2* out, uint bits) {
  uint i = get_global_id(0), r = 0;
  for (uint b = 0; b < bits; ++b) r |= ((i >> b) & 1) << (bits - 1 - b);
  out[r] = in[i];
}
// expect spectrum: data=read table=constant:read power=write
kernel void spectrum(global const float2* data, constant float2* table, global float* power) {
  const size_t i = get_global_id(0);
  const float2 v = mul(data[i], table[i & 255]);
  power[i] = hypot(v.x, v.y);
}
// expect normalize_all: data=read_write scale=value
kernel void normalize_all(global float2* data, float scale) { data[get_global_id(0)].xy *= scale; }
