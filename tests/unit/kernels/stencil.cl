// Grids: neighbours read, one or two grids written.
#define AT(g, x, y) g[(y) * w + (x)]
#define Q 9
typedef struct { float ex, ey, hz; } Cell;
constant int2 Directions[4] = {(int2)(0, 1), (int2)(1, 0), (int2)(0, -1), (int2)(-1, 0)};

// expect jacobi: old=read new=write w=value
kernel void jacobi(global const float* old, global float* new, int w) {
  const int x = get_global_id(0) + 1, y = get_global_id(1) + 1;
  AT(new, x, y) = 0.25f * (AT(old, x - 1, y) + AT(old, x + 1, y) + AT(old, x, y - 1) + AT(old, x, y + 1));
}
// expect gauss_seidel: g=read_write w=value
kernel void gauss_seidel(global float* g, int w) {
  const int x = get_global_id(0) + 1, y = get_global_id(1) + 1;
  AT(g, x, y) = 0.25f * (AT(g, x - 1, y) + AT(g, x + 1, y) + AT(g, x, y - 1) + AT(g, x, y + 1));
}
// expect heat: in=read out=write k=constant:read dim=value
kernel void heat(global const float* restrict in, global float* restrict out, constant float* k, int4 dim) {
  const size_t plane = (size_t)dim.x * dim.y;
  const size_t i = get_global_id(2) * plane + get_global_id(1) * dim.x + get_global_id(0);
  out[i] = k[0] * in[i] + k[1] * (in[i - 1] + in[i + 1] + in[i - dim.x] + in[i + dim.x]) +
           k[2] * (in[i - plane] + in[i + plane]);
}
// expect life: now=read then=write w=value h=value
kernel void life(global const uchar* now, global uchar* then, int w, int h) {
  const int x = get_global_id(0), y = get_global_id(1);
  int n = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx || dy) n += now[((y + dy + h) % h) * w + (x + dx + w) % w];
  then[y * w + x] = n == 3 || (n == 2 && now[y * w + x]);
}
// expect fdtd: cells=read_write w=value
kernel void fdtd(global Cell* cells, int w) {
  global Cell* c = &cells[get_global_id(1) * w + get_global_id(0)];
  c->hz -= 0.5f * ((c + 1)->ey - c->ey - (c + w)->ex + c->ex);
}
// expect convolve: in=read filter=constant:read out=write half_width=value
kernel void convolve(global const float* in, constant float* filter, global float* out, int half_width) {
  const int i = get_global_id(0);
  float sum = 0;
  for (int k = -half_width; k <= half_width; ++k) sum += in[i + k] * filter[k + half_width];
  out[i] = sum;
}
// expect lattice: f=read g=write solid=read
kernel void lattice(global const float* f, global float* g, global const char* solid) {
  const size_t n = get_global_size(0), i = get_global_id(0);
  float in[Q], rho = 0;
  for (int q = 0; q < Q; ++q) rho += in[q] = f[q * n + i];
  for (int q = 0; q < Q; ++q) g[q * n + i] = solid[i] ? in[(q + 4) % Q] : in[q] + 0.6f * (rho / Q - in[q]);
}
// expect flow: height=read out=write w=value
kernel void flow(global const float* height, global int* out, int w) {
  const int x = get_global_id(0), y = get_global_id(1);
  int best = -1;
  float low = AT(height, x, y);
  for (int d = 0; d < 4; ++d) {
    const int2 at = (int2)(x, y) + Directions[d];
    if (AT(height, at.x, at.y) < low) {
      low = AT(height, at.x, at.y);
      best = d;
    }
  }
  AT(out, x, y) = best;
}
// expect border: g=write value=value w=value h=value
kernel void border(global float* g, float value, int w, int h) {
  const int x = get_global_id(0);
  AT(g, x, 0) = AT(g, x, h - 1) = value;
}
// expect mirror: g=read_write w=value
kernel void mirror(global float* g, int w) {
  const int y = get_global_id(0);
  AT(g, 0, y) = AT(g, 1, y);
}
