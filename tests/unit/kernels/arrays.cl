// Parameters that are written as arrays: pointers all the same. Answers are wide here, and must not be narrow.
// not followed
// expect multiply: a=read b=read c=write
kernel void multiply(global const float a[], global float b[], global float c[]) {
  const size_t i = get_global_id(0);
  c[i] = a[i] * b[i];
}
void put(global float a[16], float v) { a[3] = v; }
// expect through_helper: p=write
kernel void through_helper(global float* p) { put(p, 1); }
