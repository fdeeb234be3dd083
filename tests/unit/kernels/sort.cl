// Sorting, histograms, searching.
#define BINS 256
typedef struct { uint key, value; } Entry;

void order(global int* a, global int* b, bool up) {
  const int x = *a, y = *b;
  if ((x > y) == up) {
    *a = y;
    *b = x;
  }
}
int lower_bound_of(global const int* a, int n, int key) {
  int low = 0;
  while (low < n) {
    const int mid = (low + n) / 2;
    if (a[mid] < key) low = mid + 1;
    else n = mid;
  }
  return low;
}

// expect bitonic: data=read_write j=value k=value
kernel void bitonic(global int* data, uint j, uint k) {
  const uint i = get_global_id(0), other = i ^ j;
  if (other > i) order(&data[i], data + other, (i & k) == 0);
}
// expect odd_even: keys=read_write values=read_write phase=value
kernel void odd_even(global uint* keys, global uint* values, int phase) {
  const int i = 2 * get_global_id(0) + phase;
  if (keys[i] <= keys[i + 1]) return;
  const uint k = keys[i], v = values[i];
  keys[i] = keys[i + 1]; values[i] = values[i + 1];
  keys[i + 1] = k; values[i + 1] = v;
}
// expect histogram: in=read bins=read_write part=local:read_write n=value
kernel void histogram(global const uchar* in, global uint* bins, local uint* part, uint n) {
  for (uint i = get_local_id(0); i < BINS; i += get_local_size(0)) part[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&part[in[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < BINS; i += get_local_size(0)) atomic_add(bins + i, part[i]);
}
// expect radix_count: in=read counts=write shift=value
kernel void radix_count(global const Entry* in, global uint* counts, uint shift) {
  local uint digits[16];
  if (get_local_id(0) < 16) digits[get_local_id(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&digits[(in[get_global_id(0)].key >> shift) & 15]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) < 16) counts[get_local_id(0) * get_num_groups(0) + get_group_id(0)] = digits[get_local_id(0)];
}
// expect radix_scatter: in=read out=write offsets=read_write shift=value
kernel void radix_scatter(global const Entry* in, global Entry* out, global uint* offsets, uint shift) {
  const Entry e = in[get_global_id(0)];
  out[atomic_inc(offsets + ((e.key >> shift) & 15))] = e;
}
// expect merge: a=read n=value b=read m=value out=write
kernel void merge(global const int* a, int n, global const int* b, int m, global int* out) {
  const int i = get_global_id(0);
  const bool first = i < n;
  global const int* mine = first ? a : b;
  global const int* others = first ? b : a;
  const int at = first ? i : i - n;
  out[at + lower_bound_of(others, first ? m : n, mine[at])] = mine[at];
}
// expect find: haystack=read needle=constant:read length=value found=write
kernel void find(global const char* haystack, constant char* needle, int length, global int* found) {
  global const char* p = haystack + get_global_id(0);
  constant char* q = needle;
  while (length-- > 0)
    if (*p++ != *q++) return;
  *found = get_global_id(0);
}
// expect fill: data=write value=value
kernel void fill(global Entry* data, uint value) { data[get_global_id(0)].value = value; }
