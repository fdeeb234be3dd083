/* Starts itself in every way that there is to start a program, each time with an environment of two variables that it
 * composes itself; every child makes one OpenCL call and says what it found. Programs that do not exist come in
 * between.
 *
 * Usage: children            all ways, each a line
 *        children child WAY  one of them
 */
#define _GNU_SOURCE
#include <CL/cl.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SELF "/proc/self/exe"
static char vendors[4096], *env[3] = {"KEY=value", vendors, NULL};
static char *args[4] = {"children", "child", NULL, NULL};

static void fail(const char* what) {
  perror(what);
  _exit(1);
}

static void by_execve(void) { execve(SELF, args, env); }
static void by_execv(void) { environ = env, execv(SELF, args); }
static void by_execvp(void) { environ = env, execvp(SELF, args); }
static void by_execvpe(void) { execvpe(SELF, args, env); }
static void by_execveat(void) { execveat(AT_FDCWD, SELF, args, env, 0); }
static void by_fexecve(void) { fexecve(open(SELF, O_RDONLY | O_CLOEXEC), args, env); }
static void by_execl(void) { environ = env, execl(SELF, args[0], args[1], args[2], (char*)NULL); }
static void by_execle(void) { execle(SELF, args[0], args[1], args[2], (char*)NULL, env); }
static void by_execlp(void) { environ = env, execlp(SELF, args[0], args[1], args[2], (char*)NULL); }

static void forked(void (*become)(void)) {
  const pid_t child = fork();
  if (child == 0) {
    if (execve("/no/such/program", args, env) != -1 || errno != ENOENT) fail("execve of nothing");
    become();
    fail("exec");
  }
  if (waitpid(child, NULL, 0) != child) fail("waitpid");
}

static void vforked(void) {
  const pid_t child = vfork();
  if (child == 0) {
    execve(SELF, args, env);
    _exit(1);
  }
  if (waitpid(child, NULL, 0) != child) fail("waitpid");
}

static void spawned(int (*spawn)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                                 char* const[], char* const[])) {
  pid_t child;
  if (spawn(&child, "/no/such/program", NULL, NULL, args, env) != ENOENT) fail("a spawn of nothing");
  if (spawn(&child, SELF, NULL, NULL, args, env) != 0) fail("spawn");
  if (waitpid(child, NULL, 0) != child) fail("waitpid");
}

static int child(const char* way) {
  cl_uint platforms = 0;
  const cl_int error = clGetPlatformIDs(0, NULL, &platforms);
  printf("%s %d %s\n", way, error, getenv("KEY") ? getenv("KEY") : "no KEY");
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 2) return child(argv[2]);
  const struct {
    const char* name;
    void (*become)(void);
  } ways[] = {{"execve", by_execve},   {"execv", by_execv},     {"execvp", by_execvp},
              {"execvpe", by_execvpe}, {"execveat", by_execveat}, {"fexecve", by_fexecve},
              {"execl", by_execl},     {"execle", by_execle},   {"execlp", by_execlp}};
  snprintf(vendors, sizeof vendors, "OCL_ICD_VENDORS=%s", getenv("OCL_ICD_VENDORS") ? getenv("OCL_ICD_VENDORS") : "");
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
    args[2] = (char*)ways[i].name;
    forked(ways[i].become);
  }
  args[2] = "vfork", vforked();
  args[2] = "posix_spawn", spawned(posix_spawn);
  args[2] = "posix_spawnp", spawned(posix_spawnp);
  return 0;
}
