// OpenCL C 2.0: generic pointers, its atomics, pipes, read_write images, blocks.
// options -cl-std=CL2.0
int load(int* p) { return *p; }
void save(int* p, int v) { *p = v; }
global int* keep;

// expect generic_pointers: a=read b=write
kernel void generic_pointers(global int* a, global int* b) { save(b, load(a)); }
// expect new_atomics: a=read b=write c=read_write
kernel void new_atomics(global atomic_int* a, global atomic_int* b, global atomic_int* c) {
  atomic_store(b, atomic_load(a));
  atomic_fetch_add(c, 1);
}
// expect both_ways: im=read_write
kernel void both_ways(read_write image2d_t im) {
  write_imagef(im, (int2)(0, 0), read_imagef(im, (int2)(1, 1)));
}
// expect kept: a=none
kernel void kept(global int* a) { keep = a; }
// expect taken: a=write
kernel void taken(global int* a) { *keep = 1; }
typedef struct Node { global struct Node* next; int value; } Node;
// expect linked: head=read_write other=write
kernel void linked(global Node* head, global Node* other) { head->next->value = 1; }
// expect block: a=write
kernel void block(global int* a) {
  void (^run)(void) = ^{ a[0] = 1; };
  run();
}
