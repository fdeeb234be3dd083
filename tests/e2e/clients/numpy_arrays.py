"""Three numpy arrays, each made in its own way and sent to a device."""

import numpy, pyopencl as cl
context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
queue = cl.CommandQueue(context)
N = 1 << 18
buf = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * N)
def first():
    a = numpy.zeros(N, dtype=numpy.float32)
    cl.enqueue_copy(queue, buf, a)
def second():
    b = numpy.arange(N, dtype=numpy.float32)
    cl.enqueue_copy(queue, buf, b)
def third():
    c = numpy.empty(N, dtype=numpy.float32)
    cl.enqueue_copy(queue, buf, c)
for i in range(5):
    first(); second(); third()
print("PASS")
