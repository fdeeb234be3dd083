// Pointers that travel: aliases, arithmetic, helpers, arrays and structures of pointers.
typedef struct { global float* in; global float* out; } Pair;
typedef union { global float* p; ulong number; } Pun;

float get(global const float* p, int i) { return p[i]; }
void put(global float* p, int i, float v) { p[i] = v; }
void both(global float* to, global const float* from) { put(to, 0, get(from, 1)); }
global float* shifted(global float* p, int by) { return p + by; }
global float* pick(global float* p, global float* q, int c) { return c ? p : q; }
void advance(global float** p) { ++*p; }
void set(global float** to, global float* p) { *to = p; }

// expect alias: a=read b=write
kernel void alias(global float* a, global float* b) {
  global float* p = a + 4;
  global float* q;
  q = b;
  *q++ = *p;
}
// expect either: a=write b=write c=value
kernel void either(global float* a, global float* b, int c) {
  global float* p = c ? a : b;
  p[1] = 2.0f;
}
// expect late: a=read_write b=read_write
kernel void late(global float* a, global float* b) {
  global float* p = a;
  for (int i = 0; i < 4; ++i) {
    p[i] += 1.0f;
    p = b;
  }
}
// expect helpers: a=write b=read
kernel void helpers(global float* a, global float* b) { both(a, b + 1); }
// expect returned: a=write b=none
kernel void returned(global float* a, global float* b) { shifted(a, 3)[0] = 1.0f; }
// expect picked: a=read b=read out=write
kernel void picked(global float* a, global float* b, global float* out) {
  out[0] = *pick(a, b, (int)get_global_id(0));
}
// expect through: a=write b=none
kernel void through(global float* a, global float* b) {
  global float* p = a;
  global float** pp = &p;
  **pp = 1.0f;
}
// expect moved: a=write
kernel void moved(global float* a) {
  global float* p = a;
  advance(&p);
  p[0] = 1.0f;
}
// expect hidden: a=read_write
kernel void hidden(global float* a) {
  global float* p = 0;
  set(&p, a);
  p[0] += 1.0f;
}
// expect array: a=read b=write
kernel void array(global float* a, global float* b) {
  global float* both_of[2] = {a, b};
  both_of[1][0] = both_of[0][0];
}
// expect pair: a=read b=write
kernel void pair(global float* a, global float* b) {
  Pair p;
  p.in = a;
  p.out = b;
  p.out[0] = p.in[0];
}
// expect cast: a=write
kernel void cast(global float* a) { ((global int*)a)[0] = 1; }
// expect number: a=write
kernel void number(global float* a) { *(global float*)((ulong)a + 8) = 1.0f; }
// expect pun: a=write
kernel void pun(global float* a) {
  Pun u;
  u.p = a;
  *(global float*)(u.number + 4) = 1.0f;
}
// expect discarded_const: a=write
kernel void discarded_const(global const float* a) { ((global float*)a)[0] = 1.0f; }
// expect other_kernel: a=write b=read
kernel void other_kernel(global float* a, global float* b) { helpers(a, b); }
// expect copied_param: a=write b=none
kernel void copied_param(global float* restrict a, global float* b) {
  b = a;
  b[0] = 1.0f;
}
