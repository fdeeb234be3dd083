// Made to break the analysis: what C allows, and programs rarely do.
typedef struct { global float* p; } One;
typedef struct { One one; int n; } Two;
typedef struct { global float* at[2]; } Table;
typedef union { global float* p; global int* q; ulong n; } Any;
typedef struct { int tag; Any any; } Tagged;
typedef struct { global float* first; global float* second; } Twins;

typedef union { One one; Twins twins; struct { global float* x; global float* y; }; } Overlaid;
typedef struct { int tag; Overlaid over; } Boxed;
typedef union { One one; struct { ulong n; global float* q; } mixed; } Mixed;

void write_through(global float** p) { **p = 1; }
void redirect(global float** p, global float* to) { *p = to; }
void exchange(global float** p, global float** q) { global float* t = *p; *p = *q; *q = t; }
One wrap(global float* p) { One o = {p}; return o; }
Two wrap_twice(One o) { Two t; t.one = o; t.n = 1; return t; }
global float* unwrap(const Two* t) { return t->one.p; }
void recurse(global float* a, global float* b, int n) { if (n) recurse(b, a, n - 1); else *a = 1; }
global float* endless(global float* p, int n) { return n ? endless(p + 1, n - 1) : p; }
void to_both(global float* a, global float* b) { *a = 1; (void)b; }
void deep3(Two* t) { *t->one.p = 3; }
void deep2(Two* t) { deep3(t); }
void deep1(Two* t) { deep2(t); }
float ignored(global float* p) { return sizeof(*p); }

// expect redirected: a=write b=none
kernel void redirected(global float* a, global float* b) {
  global float* p = 0;
  redirect(&p, a);
  *p = 1;
}
// expect exchanged: a=write b=write c=value
kernel void exchanged(global float* a, global float* b, int c) {
  global float *p = a, *q = b;
  if (c) exchange(&p, &q);
  *p = 1;
}
// expect written_through: a=write
kernel void written_through(global float* a) { write_through(&a); }
// expect swapped: a=read b=write
kernel void swapped(global float* a, global float* b) {
  global float* t = a;
  a = b;
  b = t;
  *a = *t;
}
// expect wrapped: a=write b=read
kernel void wrapped(global float* a, global float* b) {
  const Two t = wrap_twice(wrap(a));
  *unwrap(&t) = *wrap(b).p;
}
// expect member_address: a=write b=read
kernel void member_address(global float* a, global float* b) {
  Twins t = {a, b};
  global float** p = &t.first;
  **p = *t.second;
}
// expect by_name: a=write b=read
kernel void by_name(global float* a, global float* b) {
  Twins t = {.second = b, .first = a};
  t.first[0] = t.second[0];
}
// expect literal: a=write b=read
kernel void literal(global float* a, global float* b) {
  *((Twins){a, b}).first = *(&(Twins){a, b})->second;
}
// expect cast_structs: a=read_write b=read_write i=value
kernel void cast_structs(global float* a, global float* b, int i) {
  Twins t = {a, b};
  Table* u = (Table*)&t;
  *u->at[i] += 1;
}
// expect punned_pointer: a=write
kernel void punned_pointer(global float* a) {
  Any u;
  u.p = a;
  u.q[0] = 1;
}
// expect number_in_union: a=write
kernel void number_in_union(global float* a) {
  Tagged t;
  t.any.n = (ulong)a;
  t.any.p[0] = 1;
}
// expect bytes_of_pointer: a=write
kernel void bytes_of_pointer(global float* a) {
  global float* q;
  global float* p = a;
  uchar* from = (uchar*)&p;
  uchar* to = (uchar*)&q;
  for (int i = 0; i < sizeof(p); ++i) to[i] = from[i];
  *q = 1;
}
// expect turned: a=write b=write n=value
kernel void turned(global float* a, global float* b, int n) { recurse(a, b, n); }
// expect walked: a=read out=write n=value
kernel void walked(global float* a, global float* out, int n) { *out = *endless(a, n); }
// expect choice_of_calls: a=write b=none c=write n=value
kernel void choice_of_calls(global float* a, global float* b, global float* c, int n) {
  n ? to_both(a, b) : to_both(c, b);
}
// expect chosen_inside: a=write b=write n=value
kernel void chosen_inside(global float* a, global float* b, int n) { *(n > 0 ? a : (n < 0, b)) = 1; }
// expect elvis: a=write b=none
kernel void elvis(global float* a, global float* b) { *(a ?: (global float*)0) = 1; }
// expect statement: a=write b=read
kernel void statement(global float* a, global float* b) {
  global float* p = ({ global float* q = b; *q; a + 1; });
  *p = 1;
}
// expect down: a=write
kernel void down(global float* a) {
  Two t;
  t.one.p = a;
  deep1(&t);
}
// expect loop_carried: a=read b=read_write c=write n=value
kernel void loop_carried(global float* a, global float* b, global float* c, int n) {
  global float *from = a, *to = b;
  for (int i = 0; i < n; ++i) {
    *to = *from;
    from = b;
    to = c;
  }
}
// expect array_of_pointers: a=write b=write out=read n=value
kernel void array_of_pointers(global float* a, global float* b, global float* out, int n) {
  global float* to[2];
  to[0] = a;
  to[1] = b;
  to[n & 1][0] = out[0];
}
// expect unevaluated: a=none out=write
kernel void unevaluated(global float* a, global float* out) {
  *out = sizeof(a[0]++) + ignored(a);
}
// expect not_null: p=none out=write
kernel void not_null(global int* p, global int* out) { *out = !p + (p != 0); }
// expect alignment: p=none out=write
kernel void alignment(global float* p, global int* out) { *out = ((ulong)p & 15) == 0; }
// expect compound: a=read_write b=read
kernel void compound(global int* a, global int* b) { a[b[0]] |= b[1]; }
// expect comma: a=read b=write
kernel void comma(global float* a, global float* b) { float v = (a[0], a[1]); b[0] = v; }
// expect index_writes: a=read_write b=write
kernel void index_writes(global int* a, global int* b) { b[a[0]++] = 1; }
// expect nested_choice: a=read b=read c=write n=value
kernel void nested_choice(global int* a, global int* b, global int* c, int n) {
  global const int* p = n == 1 ? a : n == 2 ? b : (global const int*)0;
  if (p) *c = *p;
}
// expect vector_swizzle: v=read_write
kernel void vector_swizzle(global float4* v) { v->s02 = v->s13; }
// expect switches: a=write b=read_write n=value
kernel void switches(global int* a, global int* b, int n) {
  global int* p;
  switch (n) {
    case 0: p = a; break;
    default: p = b; *p += 1;
  }
  *p = 1;
}
// expect do_twice: a=read_write
kernel void do_twice(global int* a) {
  global int* p = a;
  do *p++ = p[-1]; while (*p);
}
// expect address_of_element: a=write b=none
kernel void address_of_element(global float4* a, global float4* b) {
  global float* p = (global float*)&a[3];
  p[2] = 1;
}
// expect rows: m=read out=write
kernel void rows(global float (*m)[4], global float* out) {
  global float* row = m[2];
  global float (*next)[4] = m + 1;
  *out = row[1] + (*next)[3];
}
// expect negated: a=read b=write
kernel void negated(global int* a, global int* b) { b[0] = -a[0] + ~a[1] + !a[2]; }
// expect printed_address: a=none b=read
kernel void printed_address(global int* a, global int* b) { printf("%p %d\n", a, b[0]); }
// expect fraction: x=read whole=write
kernel void fraction(global float4* x, global float4* whole) { x[0].x > 0 ? modf(x[1], whole) : (float4)(0); }
// expect overlaid: a=write b=read
kernel void overlaid(global float* a, global float* b) {
  Overlaid o;
  o.one.p = a;
  *o.twins.first = *b;
}
// expect overlaid_nameless: a=write
kernel void overlaid_nameless(global float* a) {
  Overlaid o;
  o.x = a;
  One copy = o.one;
  *copy.p = 1;
}
// expect overlaid_whole: a=write b=read
kernel void overlaid_whole(global float* a, global float* b) {
  const One one = {a};
  Boxed box = {1, {{0}}};
  box.over.one = one;
  const Boxed other = box;
  const Twins* t = &other.over.twins;
  t->first[0] = *b;
}
// expect overlaid_by_name: a=write
kernel void overlaid_by_name(global float* a) {
  Boxed box = {.tag = 1, .over = {.one = {a}}};
  *box.over.x = 1;
}
// expect overlaid_by_path: a=write
kernel void overlaid_by_path(global float* a) {
  Boxed box = {.over.one.p = a};
  *box.over.twins.first = 1;
}
// expect overlaid_number: a=write n=value
kernel void overlaid_number(global float* a, ulong n) {
  Mixed m;
  m.mixed.n = n;
  *m.one.p = 1;
}
