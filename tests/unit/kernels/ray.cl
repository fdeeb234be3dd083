// Ray tracing: a structure of pointers that helpers take by address or by value.
typedef struct { float4 origin, direction; float t; int hit; } Ray;
typedef struct { float4 low, high; int left, right; } Box;
typedef struct { float4 centre; float radius; int material; } Sphere;
typedef struct {
  global const Box* boxes;
  global const Sphere* spheres;
  global float4* colours;
  global uint* seeds;
  int n;
} Scene;
typedef struct { Scene scene; constant float* camera; } World;

bool touches(const Ray* r, global const Box* b) {
  const float4 t0 = (b->low - r->origin) / r->direction, t1 = (b->high - r->origin) / r->direction;
  const float4 near = fmin(t0, t1), far = fmax(t0, t1);
  return fmax(near.x, fmax(near.y, near.z)) <= fmin(far.x, fmin(far.y, far.z));
}
void intersect(Ray* r, const Scene* s, int i) {
  const float4 d = s->spheres[i].centre - r->origin;
  const float b = dot(d, r->direction), h = b * b - dot(d, d) + s->spheres[i].radius * s->spheres[i].radius;
  if (h < 0 || b - sqrt(h) >= r->t) return;
  r->t = b - sqrt(h);
  r->hit = i;
}
void traverse(Ray* r, const Scene* s) {
  int stack[32], top = 0;
  stack[top++] = 0;
  while (top > 0) {
    global const Box* b = s->boxes + stack[--top];
    if (!touches(r, b)) continue;
    if (b->left < 0) intersect(r, s, b->right);
    else {
      stack[top++] = b->left;
      stack[top++] = b->right;
    }
  }
}
float random(Scene s, int i) {
  const uint next = s.seeds[i] * 1664525u + 1013904223u;
  s.seeds[i] = next;
  return next / 4294967296.0f;
}
global float4* pixel(Scene* s, int i) { return &s->colours[i]; }

// expect trace: rays=read boxes=read spheres=read colours=write n=value
kernel void trace(global const Ray* rays, global const Box* boxes, global const Sphere* spheres,
                  global float4* colours, int n) {
  Scene s = {boxes, spheres, colours, 0, n};
  Ray r = rays[get_global_id(0)];
  traverse(&r, &s);
  s.colours[get_global_id(0)] = r.hit < 0 ? (float4)(0) : (float4)(r.t);
}
// expect accumulate: spheres=read colours=read_write seeds=read_write
kernel void accumulate(global const Sphere* spheres, global float4* colours, global uint* seeds) {
  const int i = get_global_id(0);
  Scene s;
  s.spheres = spheres;
  s.colours = colours;
  s.seeds = seeds;
  Ray r;
  r.origin = (float4)(random(s, i), random(s, i), 0, 0);
  r.t = INFINITY;
  intersect(&r, &s, 0);
  *pixel(&s, i) += r.t;
}
// expect camera_rays: rays=write camera=constant:read
kernel void camera_rays(global Ray* rays, constant float* camera) {
  World w = {.camera = camera};
  rays[get_global_id(0)].origin = vload4(0, w.camera);
  rays[get_global_id(0)].direction = vload4(1, w.camera);
  rays[get_global_id(0)].hit = -1;
}
// expect nested: spheres=read out=write
kernel void nested(global const Sphere* spheres, global float4* out) {
  World w;
  w.scene.spheres = spheres;
  w.scene.colours = out;
  const World copy = w;
  copy.scene.colours[0] = copy.scene.spheres[0].centre;
}
// expect refit: boxes=read_write spheres=read
kernel void refit(global Box* boxes, global const Sphere* spheres) {
  global Box* b = &boxes[get_global_id(0)];
  if (b->left >= 0) {
    b->low = fmin(boxes[b->left].low, boxes[b->right].low);
    b->high = fmax(boxes[b->left].high, boxes[b->right].high);
  } else {
    b->low = spheres[b->right].centre - spheres[b->right].radius;
    b->high = spheres[b->right].centre + spheres[b->right].radius;
  }
}
