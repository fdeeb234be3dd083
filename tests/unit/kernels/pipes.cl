// Packets between kernels.
// options -cl-std=CL2.0
// expect produce: in=read out=write
kernel void produce(global const int* in, write_only pipe int out) {
  int v = in[get_global_id(0)];
  write_pipe(out, &v);
}
// expect consume: in=read out=write
kernel void consume(read_only pipe int in, global int* out) {
  int v;
  if (read_pipe(in, &v) == 0) out[get_global_id(0)] = v;
}
// expect straight: in=read out=write
kernel void straight(read_only pipe int in, global int* out) {
  reserve_id_t r = reserve_read_pipe(in, 1);
  if (is_valid_reserve_id(r)) read_pipe(in, r, 0, out + get_global_id(0));
  commit_read_pipe(in, r);
}
// expect depth: in=none out=write
kernel void depth(read_only pipe int in, global uint* out) { *out = get_pipe_num_packets(in); }
