// The commands of gmicrobench, each in a file of its own: arguments in (argv[0] is the command),
// exit status out.
#pragma once

namespace gt::bench {

int platform_command(int argc, char** argv);
int device_command(int argc, char** argv);
int calls_command(int argc, char** argv);
int apps_command(int argc, char** argv);
int link_command(int argc, char** argv);
int remote_command(int argc, char** argv);

}  // namespace gt::bench
