# Tests that are run once more when they fail, and why: each depends on something that a busy machine takes away for a
# moment. Whatever is not named here fails at its first failure. scripts/test.sh shows what the first run said.
set(GT_RETRIED
  unit.link_failure_test      # peers that are silent for as long as a dead one is: a machine at load 10 is as silent
  unit.link_conformance_test  # the same limits
  e2e.proxy.endings           # counts processes while the system reaps those of others
  e2e.optimizer_safety        # searches the least address space that a program fits into, by running it
  e2e.optimizer_measuring     # measuring has a budget of seconds, which a machine that stands still uses up
  e2e.microbench              # the same
  e2e.microbench.remote       # the same
  e2e.remote.failures         # the time until a lost peer is given up: limits of a few seconds
  e2e.peers.failures          # the same
  e2e.virtual                 # seen once: a link's callback did not come in 30 s over shared memory; not found out yet
  e2e.spread                  # a trial times the ways between two devices: at load another one may win
  e2e.waiting_for_us          # processes that are stopped and killed at random
  e2e.endings.processes       # the same
  e2e.huge_pages              # what was saved is measured: at load it may be nothing
  e2e.memory_pressure)        # what the system does when memory ends differs from run to run
