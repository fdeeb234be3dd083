"""A PyOpenCL program for promises.py: some thousand steps of copies and a kernel. Prints time_s=SECONDS of its loop."""

import time

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

host = numpy.arange(1 << 18, dtype=numpy.float32) % 64
result = numpy.empty_like(host)
source = cl.Buffer(context, cl.mem_flags.READ_ONLY, host.nbytes)
target = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, host.nbytes)
begin = time.monotonic()
for step in range(1000):
    cl.enqueue_copy(queue, source, host)
    square(queue, host.shape, None, source, target, numpy.float32(step))
    cl.enqueue_copy(queue, result, target)
print(f"time_s={time.monotonic() - begin:.4f}")
