// Bodies, molecules, fluids: structures of arrays and arrays of structures.
typedef struct { float3 position, velocity; float mass; } Particle;
typedef struct { global const float4* position; global float4* force; float cutoff; } Forces;

float3 pull(float4 a, float4 b) {
  const float3 d = b.xyz - a.xyz;
  return b.w * d * native_rsqrt(dot(d, d) + 1e-6f);
}

// expect nbody: old=read new=write velocity=read_write n=value dt=value tile=local:read_write
kernel void nbody(global const float4* old, global float4* new, global float4* velocity, int n, float dt,
                  local float4* tile) {
  const int i = get_global_id(0);
  const float4 me = old[i];
  float3 a = 0;
  for (int base = 0; base < n; base += get_local_size(0)) {
    tile[get_local_id(0)] = old[base + get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < get_local_size(0); ++j) a += pull(me, tile[j]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  velocity[i].xyz += a * dt;
  new[i] = (float4)(me.xyz + velocity[i].xyz * dt, me.w);
}
// expect move: p=read_write dt=value
kernel void move(global Particle* p, float dt) {
  Particle mine = p[get_global_id(0)];
  mine.position += mine.velocity * dt;
  p[get_global_id(0)] = mine;
}
// expect kick: p=read_write gravity=value
kernel void kick(global Particle* p, float3 gravity) { p[get_global_id(0)].velocity += gravity; }
// expect masses: p=read out=write
kernel void masses(global const Particle* p, global float* out) { out[get_global_id(0)] = p[get_global_id(0)].mass; }
// expect place: p=write from=read
kernel void place(global Particle* p, global const float* from) {
  p[get_global_id(0)].position = vload3(get_global_id(0), from);
}
// expect lennard_jones: position=read neighbours=read counts=read force=write cutoff=value
kernel void lennard_jones(global const float4* position, global const int* neighbours, global const int* counts,
                          global float4* force, float cutoff) {
  const Forces f = {position, force, cutoff};
  const int i = get_global_id(0);
  float4 sum = 0;
  for (int k = 0; k < counts[i]; ++k) {
    const float4 d = f.position[neighbours[i * 64 + k]] - f.position[i];
    const float r2 = dot(d, d);
    if (r2 < f.cutoff * f.cutoff) sum += d * (1.0f / (r2 * r2) - 1.0f / r2);
  }
  f.force[i] = sum;
}
// expect cells: position=read head=read_write next=write
kernel void cells(global const float4* position, volatile global int* head, global int* next) {
  const int i = get_global_id(0);
  next[i] = atomic_xchg(&head[convert_int(position[i].x)], i);
}
// expect energy: velocity=read total=write
kernel void energy(global const float4* velocity, global float* total) {
  local float sums[64];
  sums[get_local_id(0)] = dot(velocity[get_global_id(0)], velocity[get_global_id(0)]);
  barrier(CLK_LOCAL_MEM_FENCE);
  float s = 0;
  for (local float* p = sums; p < sums + 64; ++p) s += *p;
  if (!get_local_id(0)) total[get_group_id(0)] = s;
}
// expect zero: force=write
kernel void zero(global float4* force) { force[get_global_id(0)] = (float4)(0.0f); }
