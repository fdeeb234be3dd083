// OpenCL C 3.0: atomics and helpers over generic addresses.
// options -cl-std=CL3.0
typedef struct { atomic_int lock; int owner; } Mutex;

int fetch(volatile atomic_int* at, int v) {
  return atomic_fetch_add_explicit(at, v, memory_order_relaxed, memory_scope_device);
}
void copy(int* to, const int* from, int n) {
  for (int i = 0; i < n; ++i) to[i] = from[i];
}
int sum(const int* p, int n) {
  int s = 0;
  while (n--) s += *p++;
  return s;
}
int* later(int* p, int n) { return p + n; }

// expect tickets: next=read_write out=write
kernel void tickets(global atomic_int* next, global int* out) { out[get_global_id(0)] = fetch(next, 1); }
// expect staged: in=read out=write tile=local:read_write
kernel void staged(global const int* in, global int* out, local int* tile) {
  int mine[4];
  copy(tile, in, 4);
  copy(mine, tile, 4);
  copy(out, mine, 4);
}
// expect lock: m=read_write
kernel void lock(global Mutex* m) {
  int expected = 0;
  while (!atomic_compare_exchange_weak(&m->lock, &expected, 1)) expected = 0;
  m->owner = get_global_id(0);
  atomic_store(&m->lock, 0);
}
// expect publish: flag=write data=write
kernel void publish(global atomic_int* flag, global int* data) {
  data[0] = 42;
  atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
}
// expect consume: flag=read data=read out=write
kernel void consume(global atomic_int* flag, global int* data, global int* out) {
  if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device)) out[0] = data[0];
}
// expect either_space: a=read out=write use_local=value
kernel void either_space(global const int* a, global int* out, int use_local) {
  local int tile[16];
  tile[get_local_id(0)] = get_local_id(0);
  const int* p = use_local ? (const int*)tile : (const int*)a;
  out[0] = sum(p, 16);
}
// expect generic_result: a=read_write b=none
kernel void generic_result(global int* a, global int* b) { *later(a, 1) += 1; }
// expect back_to_global: a=write
kernel void back_to_global(global int* a) {
  int* p = a;
  global int* q = to_global(p);
  if (q) q[0] = 1;
}
// expect flags: f=read_write out=write
kernel void flags(global atomic_flag* f, global int* out) {
  if (!atomic_flag_test_and_set(f)) {
    out[0] = 1;
    atomic_flag_clear(f);
  }
}
// expect exchange: a=read_write out=write
kernel void exchange(global atomic_uint* a, global uint* out) { out[0] = atomic_exchange(a, 0u); }
