// Sparse matrices and graphs.
// expect spmv_csr: rows=value ptr=read col=read val=read x=read y=write
kernel void spmv_csr(int rows, global const int* ptr, global const int* col, global const float* val,
                     global const float* x, global float* y) {
  const int r = get_global_id(0);
  if (r >= rows) return;
  float sum = 0;
  for (int k = ptr[r]; k < ptr[r + 1]; ++k) sum += val[k] * x[col[k]];
  y[r] = sum;
}
// expect spmv_coo: row=read col=read val=read x=read y=read_write
kernel void spmv_coo(global const int* row, global const int* col, global const int* val, global const int* x,
                     global int* y) {
  const size_t k = get_global_id(0);
  atomic_add(&y[row[k]], val[k] * x[col[k]]);
}
// expect bfs: ptr=read edges=read level=read_write depth=value more=write
kernel void bfs(global const int* ptr, global const int* edges, global int* level, int depth, global int* more) {
  const int v = get_global_id(0);
  if (level[v] != depth) return;
  for (int e = ptr[v]; e < ptr[v + 1]; ++e)
    if (level[edges[e]] < 0) {
      level[edges[e]] = depth + 1;
      *more = 1;
    }
}
// expect relax: edges=read weight=read distance=read_write changed=read_write
kernel void relax(global const int2* edges, global const int* weight, global int* distance, global int* changed) {
  const int2 e = edges[get_global_id(0)];
  const int d = distance[e.x] + weight[get_global_id(0)];
  if (atomic_min(&distance[e.y], d) > d) atomic_or(changed, 1);
}
// expect hook: parent=read_write edges=read
kernel void hook(global int* parent, global const int2* edges) {
  int2 e = edges[get_global_id(0)];
  while (parent[e.x] != e.x) e.x = parent[e.x];
  while (parent[e.y] != e.y) e.y = parent[e.y];
  if (e.x != e.y) atomic_cmpxchg(&parent[max(e.x, e.y)], max(e.x, e.y), min(e.x, e.y));
}
// expect rank_pages: ptr=read in=read degree=read old=read new=write
kernel void rank_pages(global const int* ptr, global const int* in, global const int* degree,
                       global const float* old, global float* new) {
  float sum = 0;
  const int v = get_global_id(0);
  for (int e = ptr[v]; e != ptr[v + 1]; ++e) sum += old[in[e]] / degree[in[e]];
  new[v] = 0.15f + 0.85f * sum;
}
// expect reset: level=write source=value
kernel void reset(global int* level, int source) {
  const int v = get_global_id(0);
  level[v] = v == source ? 0 : -1;
}
