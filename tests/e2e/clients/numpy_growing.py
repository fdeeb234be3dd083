"""Arrays that grow, shrink and go, sent to a device and back."""

import numpy, pyopencl as cl
context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
queue = cl.CommandQueue(context)
buf = cl.Buffer(context, cl.mem_flags.READ_WRITE, 16 << 20)
random = numpy.random.default_rng(3)
kept = [numpy.zeros(0, dtype=numpy.int64)] * 8
for i in range(200):
    a = kept[i % 8]
    a = numpy.concatenate([a, random.integers(0, 1 << 40, 1 + i * 500)]) if i % 5 else a[:len(a) // 3].copy()
    kept[i % 8] = a
    if not len(a):
        continue
    cl.enqueue_copy(queue, buf, a[::-1].copy())
    cl.enqueue_copy(queue, buf, a)
    cl.enqueue_copy(queue, buf, a)
    back = numpy.empty_like(a)
    cl.enqueue_copy(queue, back, buf)
    assert (a == back).all()
    a.resize(len(a) + 1000, refcheck=False)
    assert (a[:-1000] == back).all() and not a[-1000:].any()
print(sum(int(a.sum()) for a in kept))
