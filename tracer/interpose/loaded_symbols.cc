#include "tracer/interpose/loaded_symbols.h"

#include <elf.h>

#include <cstdint>

namespace gt::interpose {

namespace {

// glibc has moved the addresses in a module's dynamic section to where the module lies, but not in the kernel's own
// (vdso); other C libraries leave them.
const void* moved(const link_map& module, ElfW(Addr) address) {
  return reinterpret_cast<const void*>(address < module.l_addr ? module.l_addr + address : address);
}

// Not strcmp: a sanitizer that is just looking for the C library's functions has put its own before it, which cannot be
// called yet.
bool same(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}

struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const uint32_t* gnu_hash = nullptr;
  const uint32_t* hash = nullptr;

  explicit Tables(const link_map& module) {
    for (const ElfW(Dyn)* d = module.l_ld; d && d->d_tag != DT_NULL; ++d) {
      const void* at = moved(module, d->d_un.d_ptr);
      if (d->d_tag == DT_SYMTAB) symbols = static_cast<const ElfW(Sym)*>(at);
      if (d->d_tag == DT_STRTAB) strings = static_cast<const char*>(at);
      if (d->d_tag == DT_GNU_HASH) gnu_hash = static_cast<const uint32_t*>(at);
      if (d->d_tag == DT_HASH) hash = static_cast<const uint32_t*>(at);
    }
  }

  const ElfW(Sym) * if_named(uint32_t symbol, const char* name) const {
    const ElfW(Sym)& s = symbols[symbol];
    const bool defined = s.st_shndx != SHN_UNDEF && s.st_value != 0 && ELF64_ST_BIND(s.st_info) != STB_LOCAL;
    return defined && same(strings + s.st_name, name) ? &s : nullptr;
  }
};

uint32_t gnu_hash_of(const char* name) {
  uint32_t h = 5381;
  for (; *name; ++name) h = h * 33 + static_cast<unsigned char>(*name);
  return h;
}

// Header: buckets, first symbol with a hash, words of the Bloom filter, its shift; the filter; the buckets, each with
// the first symbol of its chain; one hash for each symbol from the first on, whose lowest bit ends the chain.
const ElfW(Sym) * find_by_gnu_hash(const Tables& t, const char* name) {
  const uint32_t buckets = t.gnu_hash[0], first = t.gnu_hash[1], filter_words = t.gnu_hash[2];
  const auto* bucket = t.gnu_hash + 4 + filter_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* chain = bucket + buckets;
  if (buckets == 0) return nullptr;
  const uint32_t wanted = gnu_hash_of(name);
  uint32_t symbol = bucket[wanted % buckets];
  if (symbol < first) return nullptr;
  for (;; ++symbol) {
    const uint32_t hash = chain[symbol - first];
    const ElfW(Sym)* s = (hash | 1) == (wanted | 1) ? t.if_named(symbol, name) : nullptr;
    if (s || (hash & 1)) return s;
  }
}

uint32_t sysv_hash_of(const char* name) {
  uint32_t h = 0;
  for (; *name; ++name) {
    h = (h << 4) + static_cast<unsigned char>(*name);
    const uint32_t high = h & 0xf0000000;
    h = (h ^ high >> 24) & ~high;
  }
  return h;
}

// Buckets, symbols; the first symbol of each bucket; the next symbol of each symbol.
const ElfW(Sym) * find_by_hash(const Tables& t, const char* name) {
  const uint32_t buckets = t.hash[0];
  const uint32_t *bucket = t.hash + 2, *next = bucket + buckets;
  if (buckets == 0) return nullptr;
  for (uint32_t s = bucket[sysv_hash_of(name) % buckets]; s != STN_UNDEF; s = next[s])
    if (const ElfW(Sym)* found = t.if_named(s, name)) return found;
  return nullptr;
}

}  // namespace

const void* definition(const link_map& module, const char* name) {
  const Tables t(module);
  if (!t.symbols || !t.strings || (!t.gnu_hash && !t.hash)) return nullptr;
  const ElfW(Sym)* s = t.gnu_hash ? find_by_gnu_hash(t, name) : find_by_hash(t, name);
  return s ? reinterpret_cast<const void*>(module.l_addr + s->st_value) : nullptr;
}

bool needs(const link_map& module, bool (*is_it)(const char* library)) {
  const Tables t(module);
  for (const ElfW(Dyn)* d = module.l_ld; t.strings && d->d_tag != DT_NULL; ++d)
    if (d->d_tag == DT_NEEDED && is_it(t.strings + d->d_un.d_val)) return true;
  return false;
}

const link_map* own_module() {
  const link_map* m = first_module();
  while (m && m->l_ld != _DYNAMIC) m = m->l_next;
  return m;
}

}  // namespace gt::interpose
