"""A small PyOpenCL program: squares and sums on the device, checked with numpy."""

import sys

import numpy
import pyopencl as cl

context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
queue = cl.CommandQueue(context)
program = cl.Program(context, """
kernel void square(global const float* in, global float* out, float scale) {
  const size_t i = get_global_id(0);
  out[i] = scale * in[i] * in[i];
}
""").build()
square = cl.Kernel(program, "square")

host = numpy.arange(4096, dtype=numpy.float32) % 64
result = numpy.empty_like(host)
flags = cl.mem_flags
source = cl.Buffer(context, flags.READ_ONLY, host.nbytes)
target = cl.Buffer(context, flags.WRITE_ONLY, host.nbytes)
for step in range(20):
    cl.enqueue_copy(queue, source, host)
    square(queue, host.shape, None, source, target, numpy.float32(step))
    cl.enqueue_copy(queue, result, target)
    if not numpy.array_equal(result, numpy.float32(step) * host * host):
        sys.exit("wrong result")
print("pyopencl: 20 steps,", "sum", int(result.sum(dtype=numpy.float64)), "PASS")
