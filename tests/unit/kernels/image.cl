// Image filters.
constant sampler_t Clamp = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant float Gauss[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};

float grey(read_only image2d_t im, int2 at) { return dot(read_imagef(im, Clamp, at).xyz, (float3)(0.3f, 0.6f, 0.1f)); }
void put(write_only image2d_t im, int2 at, float v) { write_imagef(im, at, (float4)(v, v, v, 1)); }

// expect blur: in=read out=write
kernel void blur(read_only image2d_t in, write_only image2d_t out) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  float4 sum = 0;
  for (int y = -1; y <= 1; ++y)
    for (int x = -1; x <= 1; ++x) sum += Gauss[y + 1][x + 1] * read_imagef(in, Clamp, at + (int2)(x, y));
  write_imagef(out, at, sum / 16);
}
// expect sobel: in=read out=write strength=value
kernel void sobel(read_only image2d_t in, write_only image2d_t out, float strength) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  put(out, at, strength * fabs(grey(in, at + (int2)(1, 0)) - grey(in, at - (int2)(1, 0))));
}
// expect resize: in=read s=value out=write
kernel void resize(__read_only image2d_t in, sampler_t s, __write_only image2d_t out) {
  const float2 size = convert_float2(get_image_dim(out));
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(out, at, read_imagef(in, s, convert_float2(at) / size));
}
// expect to_buffer: in=read out=write pitch=value
kernel void to_buffer(image2d_t in, global uchar4* out, int pitch) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  out[at.y * pitch + at.x] = convert_uchar4(read_imageui(in, Clamp, at));
}
// expect volume: in=read out=write
kernel void volume(read_only image3d_t in, global float* out) {
  const int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
  out[at.z] = read_imagef(in, Clamp, at).x + get_image_depth(in);
}
// expect layers: in=read out=write
kernel void layers(read_only image2d_array_t in, write_only image2d_array_t out) {
  const int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
  write_imagei(out, at, -read_imagei(in, Clamp, at));
}
// expect invert: p=read_write
kernel void invert(global uchar4* p) { p[get_global_id(0)].xyz = (uchar3)(255) - p[get_global_id(0)].xyz; }
// expect alpha: p=write
kernel void alpha(global uchar4* p) { p[get_global_id(0)].w = 255; }
// expect composite: over=read under=read_write
kernel void composite(global const float4* over, global float4* under) {
  const float4 o = over[get_global_id(0)];
  global float4* u = under + get_global_id(0);
  *u = (float4)(mix(u->xyz, o.xyz, o.w), u->w);
}
// expect line: in=read out=write
kernel void line(read_only image1d_buffer_t in, write_only image1d_t out) {
  write_imagef(out, (int)get_global_id(0), read_imagef(in, (int)get_global_id(0)));
}
// expect luminance: rgb=read histogram=read_write
kernel void luminance(global const uchar* rgb, global uint* histogram) {
  const uchar3 c = vload3(get_global_id(0), rgb);
  atomic_inc(histogram + ((c.x * 77 + c.y * 151 + c.z * 28) >> 8));
}
