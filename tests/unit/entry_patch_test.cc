// Entry patching: a table of awkward beginnings is decoded, relocated, patched and executed in this process.
#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <string>

#include "tracer/interpose/entry_patch.h"
#include "tracer/interpose/entry_plan.h"

#if defined(__x86_64__)

using namespace gt::interpose;

namespace {

// Each takes a number and gives 1000 + it, by its own way. `ENTRY(name)` ... `END(name)`.
#define ENTRY(name) ".p2align 4\n.globl " name "\n.type " name ", @function\n" name ":\n"
#define END(name) ".size " name ", .-" name "\n"
asm(".pushsection .data\nawkward_thousand: .long 1000\n.popsection\n"
    // Pages of their own: a page is not executable while it is written, and the one who writes must go on.
    ".pushsection .text.awkward,\"ax\"\n.p2align 12\n"
    ENTRY("awkward_plain") "push %rbp\nmov %rsp,%rbp\nlea 1000(%rdi),%eax\npop %rbp\nret\n" END("awkward_plain")
    ENTRY("awkward_endbr") "endbr64\npush %rbx\nlea 1000(%rdi),%eax\npop %rbx\nret\n" END("awkward_endbr")
    ENTRY("awkward_rip_load") "mov awkward_thousand(%rip),%eax\nadd %edi,%eax\nret\n" END("awkward_rip_load")
    ENTRY("awkward_rip_immediate") "cmpl $1000,awkward_thousand(%rip)\nlea 1000(%rdi),%eax\nje 1f\nud2\n1: ret\n"
    END("awkward_rip_immediate")
    ENTRY("awkward_rip_lea") "lea awkward_thousand(%rip),%rax\nmov (%rax),%eax\nadd %edi,%eax\nret\n"
    END("awkward_rip_lea")
    ENTRY("awkward_short_jcc") "test %edi,%edi\njs 1f\n"
    "lea 1000(%rdi),%eax\nret\n.skip 40,0x90\n1: lea 1000(%rdi),%eax\nret\n"
    END("awkward_short_jcc")
    ENTRY("awkward_near_jcc") "test %edi,%edi\njs 1f\n"
    "lea 1000(%rdi),%eax\nret\n.skip 300,0x90\n1: lea 1000(%rdi),%eax\nret\n"
    END("awkward_near_jcc")
    ENTRY("awkward_short_jmp") "jmp 1f\nnop\nnop\nnop\n1: lea 1000(%rdi),%eax\nret\n" END("awkward_short_jmp")
    ENTRY("awkward_near_jmp") "jmp awkward_plain_body\n" END("awkward_near_jmp")
    ENTRY("awkward_call") "call awkward_leaf\nlea (%rdi,%rax),%eax\nret\n" END("awkward_call")
    ENTRY("awkward_indirect") "jmp *awkward_pointer(%rip)\n" END("awkward_indirect")
    ENTRY("awkward_tiny") "lea 1000(%rdi),%eax\nret\n" END("awkward_tiny")
    ENTRY("awkward_padded") "xchg %edi,%eax\nret\n" END("awkward_padded") ".p2align 4,0x90\n"
    ENTRY("awkward_crowded") "mov %edi,%eax\nret\n" END("awkward_crowded")
    ".globl awkward_neighbour\n.type awkward_neighbour,@function\n"
    "awkward_neighbour: mov %edi,%eax\nadd $1000,%eax\nret\n"
    END("awkward_neighbour")
    ENTRY("awkward_loop_head") "1: dec %esi\njns 1b\nlea 1000(%rdi),%eax\nret\n" END("awkward_loop_head")
    ENTRY("awkward_loop_back") "nop\nnop\n1: nop\nnop\nnop\ndec %esi\njns 1b\nlea 1000(%rdi),%eax\nret\n"
    END("awkward_loop_back")
    ENTRY("awkward_jrcxz") "jrcxz 1f\n1: lea 1000(%rdi),%eax\nret\n.skip 8\n" END("awkward_jrcxz")
    ENTRY("awkward_plain_body") "lea 1000(%rdi),%eax\nret\n" END("awkward_plain_body")
    ENTRY("awkward_leaf") "mov $1000,%eax\nret\n" END("awkward_leaf")
    ".p2align 12\n.popsection\n"
    ".pushsection .data.rel,\"aw\"\n.p2align 3\nawkward_pointer: .quad awkward_plain_body\n.popsection\n");

using Function = int (*)(long, long);
extern "C" {
int awkward_plain(long, long);
int awkward_endbr(long, long);
int awkward_rip_load(long, long);
int awkward_rip_immediate(long, long);
int awkward_rip_lea(long, long);
int awkward_short_jcc(long, long);
int awkward_near_jcc(long, long);
int awkward_short_jmp(long, long);
int awkward_near_jmp(long, long);
int awkward_call(long, long);
int awkward_indirect(long, long);
int awkward_tiny(long, long);
int awkward_padded(long, long);
int awkward_crowded(long, long);
int awkward_loop_head(long, long);
int awkward_loop_back(long, long);
int awkward_jrcxz(long, long);
}

int g_hooked = 0;
Function g_real = nullptr;
int hook(long a, long b) {
  ++g_hooked;
  return g_real(a, b);
}

EntryPlan plan_for(const std::string& name) {
  auto plan = plan_entries("/proc/self/exe",
                           [&](std::string_view n) { return n == name ? EntryUse::Hook : EntryUse::None; });
  REQUIRE(plan.ok());
  return *plan;
}

int carry_out(const std::string& plan) {
  return patch_entries(plan.c_str(), {[](const char*) { return reinterpret_cast<void*>(&hook); },
                                      [](const char*, void* real) { g_real = reinterpret_cast<Function>(real); }});
}

// A sanitizer may have threads of its own: then nothing is patched, as it should be.
bool alone() {
  struct stat st {};
  return stat("/proc/self/task", &st) == 0 && st.st_nlink == 3;
}

struct Case {
  const char* name;
  Function function;
  int base;  // what it adds
};

}  // namespace

TEST_CASE("awkward beginnings are moved, and do what they did") {
  const Case cases[] = {
      {"awkward_plain", awkward_plain, 1000},         {"awkward_endbr", awkward_endbr, 1000},
      {"awkward_rip_load", awkward_rip_load, 1000},   {"awkward_rip_immediate", awkward_rip_immediate, 1000},
      {"awkward_rip_lea", awkward_rip_lea, 1000},     {"awkward_short_jcc", awkward_short_jcc, 1000},
      {"awkward_near_jcc", awkward_near_jcc, 1000},   {"awkward_short_jmp", awkward_short_jmp, 1000},
      {"awkward_near_jmp", awkward_near_jmp, 1000},   {"awkward_call", awkward_call, 1000},
      {"awkward_indirect", awkward_indirect, 1000},   {"awkward_tiny", awkward_tiny, 1000},
      {"awkward_padded", awkward_padded, 0},
  };
  if (!alone()) return;
  for (const Case& c : cases) {
    INFO(std::string(c.name));
    REQUIRE(c.function(42, 0) == c.base + 42);
    const EntryPlan plan = plan_for(c.name);
    REQUIRE((plan.refused.empty() ? "" : plan.refused[0].reason) == "");
    REQUIRE(plan.hooked.size() == 1);
    REQUIRE(carry_out(plan.text) == 1);
    g_hooked = 0;
    CHECK(c.function(42, 0) == c.base + 42);
    CHECK(c.function(-7, 0) == c.base - 7);
    CHECK(g_hooked == 2);
    CHECK(carry_out(plan.text) == 0);  // the bytes are not the expected ones any more
    CHECK(c.function(1, 0) == c.base + 1);
  }
}

TEST_CASE("what cannot be patched is refused with its reason, and left alone") {
  const std::map<std::string, std::pair<Function, const char*>> cases = {
      {"awkward_crowded", {awkward_crowded, "too short"}},
      {"awkward_loop_head", {awkward_loop_head, "jump among themselves"}},
      {"awkward_loop_back", {awkward_loop_back, "jumps back"}},
      {"awkward_jrcxz", {awkward_jrcxz, "cannot be moved"}},
  };
  if (!alone()) return;
  for (const auto& [name, c] : cases) {
    INFO(name);
    const int before = c.first(42, 3);
    const EntryPlan plan = plan_for(name);
    CHECK(plan.hooked.empty());
    REQUIRE(plan.refused.size() == 1);
    INFO(plan.refused[0].reason);
    CHECK(plan.refused[0].reason.find(c.second) != std::string::npos);
    CHECK(carry_out(plan.text) == 0);
    CHECK((g_real == c.first));  // it is still what the program calls by that name
    CHECK(c.first(42, 3) == before);
  }
}

TEST_CASE("a plan for another program, or a damaged one, changes nothing") {
  const std::string text = plan_for("awkward_neighbour").text;
  CHECK(carry_out("1:2" + text.substr(text.find(';'))) == 0);
  CHECK(carry_out("") == 0);
  for (size_t n = 0; n < text.size(); ++n) {
    std::string damaged = text;
    damaged[n] = '?';
    carry_out(damaged);
    if (n + 1 < text.size()) carry_out(text.substr(0, n / 4));
  }
}

#endif
