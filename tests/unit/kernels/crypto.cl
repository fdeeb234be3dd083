// Hashes and ciphers: tables, private states, macros.
#define ROTL(x, n) rotate((uint)(x), (uint)(n))
#define STEP(a, b, c, d, x, s) a += (d ^ (b & (c ^ d))) + x; a = ROTL(a, s) + b;
#define QUARTER(a, b, c, d) \
  x[b] ^= ROTL(x[a] + x[d], 7); x[c] ^= ROTL(x[b] + x[a], 9); \
  x[d] ^= ROTL(x[c] + x[b], 13); x[a] ^= ROTL(x[d] + x[c], 18)
constant uint K[4] = {0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee};
typedef struct { uint h[4]; uchar buffer[64]; uint length; } State;

void init(State* s) {
  for (int i = 0; i < 4; ++i) s->h[i] = K[i];
  s->length = 0;
}
void update(State* s, global const uchar* data, uint n) {
  for (uint i = 0; i < n; ++i) s->buffer[s->length++ & 63] = data[i];
  uint a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3];
  STEP(a, b, c, d, s->buffer[0], 7)
  STEP(d, a, b, c, s->buffer[1], 12)
  s->h[0] += a; s->h[1] += b; s->h[2] += c; s->h[3] += d;
}
void final(const State* s, global uint* out) {
  for (int i = 0; i < 4; ++i) out[i] = s->h[i];
}
void salsa(uint* x) {
  for (int i = 0; i < 8; i += 2) {
    QUARTER(0, 4, 8, 12);
    QUARTER(5, 9, 13, 1);
  }
}

// expect digest: in=read n=value out=write
kernel void digest(global const uchar* in, uint n, global uint* out) {
  State s;
  init(&s);
  update(&s, in + get_global_id(0) * n, n);
  final(&s, out + 4 * get_global_id(0));
}
// expect xtea: v=read_write key=constant:read
kernel void xtea(global uint2* v, constant uint* key) {
  uint2 b = v[get_global_id(0)];
  uint sum = 0;
  for (int i = 0; i < 32; ++i) {
    b.x += (((b.y << 4) ^ (b.y >> 5)) + b.y) ^ (sum + key[sum & 3]);
    sum += 0x9e3779b9;
    b.y += (((b.x << 4) ^ (b.x >> 5)) + b.x) ^ (sum + key[(sum >> 11) & 3]);
  }
  v[get_global_id(0)] = b;
}
// expect stream: key=read out=read_write
kernel void stream(global const uint* key, global uint* out) {
  uint x[16];
  for (int i = 0; i < 16; ++i) x[i] = key[i];
  salsa(x);
  for (int i = 0; i < 16; ++i) out[16 * get_global_id(0) + i] ^= x[i];
}
// expect sbox: in=read table=read out=write
kernel void sbox(global const uchar16* in, global const uchar* table, global uchar16* out) {
  local uchar fast[256];
  event_t e = async_work_group_copy(fast, table, 256, 0);
  wait_group_events(1, &e);
  const uchar16 v = in[get_global_id(0)];
  out[get_global_id(0)] = (uchar16)(fast[v.s0], fast[v.s1], fast[v.s2], fast[v.s3], fast[v.s4], fast[v.s5], fast[v.s6],
                                    fast[v.s7], fast[v.s8], fast[v.s9], fast[v.sa], fast[v.sb], fast[v.sc], fast[v.sd],
                                    fast[v.se], fast[v.sf]);
}
// expect search: targets=constant:read found=write nonce=value
kernel void search(constant uint* targets, volatile global uint* found, uint nonce) {
  uint x[16];
  for (int i = 0; i < 16; ++i) x[i] = nonce + get_global_id(0) * i;
  salsa(x);
  if (x[7] <= targets[0]) found[x[0] & 0xff] = nonce + get_global_id(0);
}
// expect crc: data=read n=value table=read out=write
kernel void crc(global const uchar* data, uint n, global const uint* table, global uint* out) {
  uint c = ~0u;
  global const uchar* end = data + n;
  for (global const uchar* p = data; p != end; ++p) c = table[(c ^ *p) & 0xff] ^ (c >> 8);
  out[0] = ~c;
}
