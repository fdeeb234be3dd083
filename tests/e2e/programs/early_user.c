// Finds out whether what early.c allocated before everybody else is still there.
#include "tests/e2e/programs/check.h"

int main(void) {
  int (*intact)(void) = INTERPOSER(int (*)(void), "early_is_intact");
  CHECK(intact && intact());
  return puts("intact"), 0;
}
