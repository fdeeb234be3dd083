// The commands of goptimize: arguments in (argv[0] is the command), exit status out.
#pragma once

namespace gt::opt {

int run_command(int argc, char** argv);
int devices_command(int argc, char** argv);

}  // namespace gt::opt
