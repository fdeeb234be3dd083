// Build options decide what the kernel is.
// options -cl-std=CL1.2 -D WRITE -DTYPE=float -cl-mad-enable "-DINDEX=(1 + 1)"
#ifndef WRITE
#error "the options were not given"
#endif
// expect optional: a=write
kernel void optional(global TYPE* a) { a[INDEX] = 1; }
