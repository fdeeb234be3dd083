// Dense linear algebra, tiled and plain.
#define TS 16

// expect saxpy: n=value a=value x=read y=read_write
kernel void saxpy(const int n, const float a, global const float* restrict x, global float* restrict y) {
  const int i = get_global_id(0);
  if (i < n) y[i] = mad(a, x[i], y[i]);
}
// expect sscal: n=value a=value x=read_write
kernel void sscal(const int n, const float a, global float* x) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) x[i] *= a;
}
// expect swap: x=read_write y=read_write
kernel void swap(global float4* x, global float4* y) {
  const size_t i = get_global_id(0);
  const float4 t = x[i];
  x[i] = y[i];
  y[i] = t;
}
// expect sgemv: rows=value cols=value a=read x=read y=read_write alpha=value beta=value
kernel void sgemv(int rows, int cols, global float* a, global float* x, global float* y, float alpha, float beta) {
  const int r = get_global_id(0);
  if (r >= rows) return;
  float sum = 0;
  for (int c = 0; c < cols; ++c) sum += a[r * cols + c] * x[c];
  if (beta == 0.0f) y[r] = alpha * sum;
  else y[r] = alpha * sum + beta * y[r];
}
// expect ger: x=read y=read a=read_write lda=value
kernel void ger(global const float* x, global const float* y, global float* a, uint lda) {
  global float* row = a + get_global_id(1) * lda;
  row[get_global_id(0)] += x[get_global_id(1)] * y[get_global_id(0)];
}
// expect sgemm: m=value n=value k=value a=read b=read c=write
kernel void sgemm(int m, int n, int k, const global float* a, const global float* b, global float* c) {
  local float ta[TS][TS], tb[TS][TS];
  const int r = get_local_id(0), col = get_local_id(1);
  const int gr = TS * get_group_id(0) + r, gc = TS * get_group_id(1) + col;
  float acc = 0.0f;
  for (int t = 0; t < k / TS; ++t) {
    ta[col][r] = a[(TS * t + col) * m + gr];
    tb[col][r] = b[gc * k + TS * t + r];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TS; ++i) acc += ta[i][r] * tb[col][i];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[gc * m + gr] = acc;
}
// expect sdot: n=value x=read y=read out=write scratch=local:read_write
kernel void sdot(int n, global const float* x, global const float* y, global float* out, local float* scratch) {
  float sum = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum = fma(x[i], y[i], sum);
  scratch[get_local_id(0)] = sum;
  for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < s) scratch[get_local_id(0)] += scratch[get_local_id(0) + s];
  }
  if (get_local_id(0) == 0) out[get_group_id(0)] = scratch[0];
}
// expect isamax: n=value x=read best=read_write where=write
kernel void isamax(int n, global float* x, global float* best, global int* where) {
  for (int i = 0; i < n; ++i)
    if (fabs(x[i]) > *best) {
      *best = fabs(x[i]);
      *where = i;
    }
}
// expect transpose: in=read out=write tile=local:read_write
kernel void transpose(global const float* in, global float* out, local float (*tile)[TS + 1]) {
  const int x = get_local_id(0), y = get_local_id(1);
  tile[y][x] = in[get_global_id(1) * get_global_size(0) + get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0) * get_global_size(1) + get_global_id(1)] = tile[x][y];
}
