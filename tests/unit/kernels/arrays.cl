// Parameters that are written as arrays: pointers all the same.
typedef float Row[4];
typedef struct { global float* data; int n; } View;

// expect multiply: a=read b=read c=write
kernel void multiply(global const float a[], global float b[], global float c[]) {
  const size_t i = get_global_id(0);
  c[i] = a[i] * b[i];
}
void put(global float a[16], float v) { a[3] = v; }
float get(const global float a[], int i) { return *(a + i); }
// expect through_helper: p=write
kernel void through_helper(global float* p) { put(p, 1); }
// expect between: a=read b=write
kernel void between(global float a[8], global float b[8]) { put(b, get(a, 2)); }
// expect two_levels: a=read_write b=read
kernel void two_levels(global float a[][4], global Row b[2]) { a[1][2] += b[0][1]; }
// expect pointers_of: a=read b=write
kernel void pointers_of(global float a[], global float b[]) {
  global float* from = a + 1;
  global float* to = &b[2];
  *to = *++from;
}
// expect chosen: a=read b=read c=write n=value
kernel void chosen(global float a[], global float b[], global float c[], int n) { c[0] = (n ? a : b)[1]; }
// expect moved: a=write b=none
kernel void moved(global float a[], global float b[]) {
  a += 3;
  *a = 1;
  a++;
  a[0] = 2;
  (b + 1, a)[4] = 3;
}
// expect through_address: a=write
kernel void through_address(global float a[]) {
  global float** p = &a;
  (*p)[1] = 1;
}
// expect redirected: a=none b=write
kernel void redirected(global float a[], global float b[]) {
  global float** p = &a;
  *p = b;
  a[1] = 1;
}
float last(View v[], int i) { return v[i].data[v[i].n]; }
// expect in_struct: a=read b=write
kernel void in_struct(global float a[], global float b[]) {
  View views[2];
  views[0].data = a;
  views[1].data = a;
  b[0] = last(views, 1);
}
void swap_in(global float* held[2], global float* q) { held[1] = q; }
// expect array_of_arrays: a=write
kernel void array_of_arrays(global float a[]) {
  global float* held[2];
  swap_in(held, a);
  *held[1] = 1;
}
void fill(local int t[], int n) { t[n] = n; }
// expect locals: scratch=local:write out=write
kernel void locals(local int scratch[], global int out[]) {
  fill(scratch, 1);
  out[0] = 2;
}
// expect constants: table=constant:read out=write
kernel void constants(constant float table[], global float out[]) { out[0] = table[1]; }
float sum(float private_copy[4]) { return private_copy[0] + private_copy[3]; }
// expect private_array: in=read out=write
kernel void private_array(global float in[], global float out[]) {
  float copy[4] = {in[0], in[1], in[2], in[3]};
  out[0] = sum(copy);
}
// expect bytes: a=read b=write
kernel void bytes(global float a[], global float b[]) { vstore4(vload4(0, a), 1, b); }
// expect ends: a=write n=value
kernel void ends(global float a[], int n) {
  for (global float* p = a; p != a + n; ++p) *p = 0;
}
