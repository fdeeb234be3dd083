"""Shared virtual memory through PyOpenCL: arrays that the device and numpy have at one address."""

import sys

import numpy
import pyopencl as cl

context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
queue = cl.CommandQueue(context)
program = cl.Program(context, """
kernel void twice(global float* a) { a[get_global_id(0)] *= 2; }
""").build()
twice = cl.Kernel(program, "twice")

array = cl.SVM(cl.csvm_empty(context, 100_000, numpy.float32))
with array.map_rw(queue) as mapped:
    mapped[:] = numpy.arange(100_000)
for step in range(3):
    twice(queue, array.mem.shape, None, array)
with array.map_ro(queue) as mapped:
    total = int(mapped.sum(dtype=numpy.float64))
host = numpy.empty(100_000, numpy.float32)
cl.enqueue_copy(queue, host, array)
copy = cl.SVM(cl.csvm_empty_like(context, array.mem))
cl.enqueue_copy(queue, copy, array)
with copy.map_ro(queue) as mapped:
    good = numpy.array_equal(mapped, host) and numpy.array_equal(host, 8 * numpy.arange(100_000, dtype=numpy.float32))
print("pyopencl: shared memory,", total, "PASS" if good else sys.exit("wrong result"))
