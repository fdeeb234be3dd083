#include "tracer/interpose/child_environment.h"

#include <cstdlib>
#include <cstring>

#include "tracer/interpose/real_library.h"

namespace gt::interpose {

namespace {

enum class Place { Whole, First, Last };  // the value itself; an element of a list that is separated by colons

struct Variable {
  const char* name = nullptr;
  Place place = Place::Whole;
  char value[4096] = {};
};
constexpr size_t Most = 8;
constinit Variable g_variables[Most];  // filled by a constructor: nothing may clear it after that
constinit size_t g_count = 0;
constexpr size_t MostRoom = 128 << 10;  // of the caller's stack

void remember(const char* name, Place place, const char* value, size_t length) {
  if (g_count == Most || length >= sizeof g_variables[0].value) return;
  Variable& v = g_variables[g_count++];
  v.name = name;
  v.place = place;
  std::memcpy(v.value, value, length);
  v.value[length] = 0;
}

// The end of element `wanted` in a list; nullptr when it is not there.
const char* end_in_list(const char* list, const char* wanted, size_t length) {
  while (list) {
    const size_t n = std::strcspn(list, ": ");
    if (n == length && std::memcmp(list, wanted, n) == 0) return list + n;
    list = list[n] ? list + n + 1 : nullptr;
  }
  return nullptr;
}

// An element that this process has in the list of its own environment. In LD_PRELOAD also what stands before it: a
// sanitizer's runtime, which insists on being the first.
void remember_element(const char* name, Place place, const char* element, size_t length, bool with_those_before) {
  const char* list = getenv(name);
  const char* end = list ? end_in_list(list, element, length) : nullptr;
  if (!end) return;
  const char* begin = with_those_before ? list : end - length;
  remember(name, place, begin, static_cast<size_t>(end - begin));
}

const char* value_in(char* const* environment, const char* name) {
  const size_t length = std::strlen(name);
  for (; environment && *environment; ++environment) {
    const char* entry = *environment;
    if (std::strncmp(entry, name, length) == 0 && entry[length] == '=') return entry + length + 1;
  }
  return nullptr;
}

bool has(const Variable& v, const char* value) {
  if (!value) return false;
  const size_t length = std::strlen(v.value);
  const char* last = std::strrchr(v.value, ':');  // of LD_PRELOAD: ours
  const char* element = last ? last + 1 : v.value;
  return v.place == Place::Whole || end_in_list(value, element, length - static_cast<size_t>(element - v.value));
}

size_t text_bytes(const Variable& v, const char* old) {
  return std::strlen(v.name) + 1 + std::strlen(v.value) + (old && *old ? 1 + std::strlen(old) : 0) + 1;
}

char* append(char* to, const char* text) {
  const size_t n = std::strlen(text);
  std::memcpy(to, text, n);
  return to + n;
}

char* write_text(char* to, const Variable& v, const char* old) {
  to = append(append(to, v.name), "=");
  const bool joined = old && *old;
  if (joined && v.place == Place::Last) to = append(append(to, old), ":");
  to = append(to, v.value);
  if (joined && v.place == Place::First) to = append(append(to, ":"), old);
  *to = 0;
  return to + 1;
}

size_t count_of(char* const* environment) {
  size_t n = 0;
  while (environment && environment[n]) ++n;
  return n;
}

}  // namespace

void remember_environment(std::initializer_list<const char*> variables) {
  for (const char* name : variables) {
    if (const char* value = getenv(name)) remember(name, Place::Whole, value, std::strlen(value));
  }
  const char* own = own_path();
  const size_t length = std::strlen(own);
  const char* slash = std::strrchr(own, '/');
  if (!slash) return;
  remember_element("LD_PRELOAD", Place::First, own, length, true);
  remember_element("LD_LIBRARY_PATH", Place::First, own, static_cast<size_t>(slash - own), false);
  remember_element("OPENCL_LAYERS", Place::Last, own, length, false);
}

size_t room_for_ours(char* const* environment) {
  if (g_count == 0) return 0;
  const char* recording = value_in(environment, g_variables[0].name);
  if (recording && std::strcmp(recording, g_variables[0].value) != 0) return 0;
  size_t bytes = 0;
  for (size_t i = 0; i < g_count; ++i) {
    const char* old = value_in(environment, g_variables[i].name);
    if (!has(g_variables[i], old)) bytes += text_bytes(g_variables[i], old);
  }
  if (bytes == 0) return 0;
  bytes += (count_of(environment) + g_count + 1) * sizeof(char*);
  return bytes <= MostRoom ? bytes : 0;
}

char** with_ours(char* const* environment, void* room) {
  const size_t given = count_of(environment);
  auto** out = static_cast<char**>(room);
  char* text = reinterpret_cast<char*>(out + given + g_count + 1);
  size_t n = 0;
  for (; n < given; ++n) out[n] = environment[n];
  for (size_t i = 0; i < g_count; ++i) {
    const Variable& v = g_variables[i];
    const char* old = value_in(environment, v.name);
    if (has(v, old)) continue;
    size_t at = 0;  // the place of the old value, else a new one
    while (at < given && !(old && environment[at] + std::strlen(v.name) + 1 == old)) ++at;
    out[at < given ? at : n++] = text;
    text = write_text(text, v, old);
  }
  out[n] = nullptr;
  return out;
}

}  // namespace gt::interpose
