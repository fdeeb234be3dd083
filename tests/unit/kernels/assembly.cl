// Inline assembly, as one vendor's compiler takes it.
uint lanes(uint v) {
  uint out;
  asm volatile("popc.b32 %0, %1;" : "=r"(out) : "r"(v));
  return out;
}
// expect count_bits: in=read out=write
kernel void count_bits(global const uint* in, global uint* out) { out[get_global_id(0)] = lanes(in[get_global_id(0)]); }
// expect store_by_hand: in=read out=write
kernel void store_by_hand(global const uint* in, global uint* out) {
  const uint v = in[0];
  asm volatile("st.global.u32 [%0], %1;" : : "r"(out), "r"(v) : "memory");
}
// expect result_by_hand: out=write
kernel void result_by_hand(global uint* out) {
  asm("mov.u32 %0, %%laneid;" : "=r"(out[get_global_id(0)]));
}
