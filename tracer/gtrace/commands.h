// The commands of gtrace. Each gets its own argument vector: argv[0] is the command's name. Each
// returns the exit status of the program (traces/base/command.h) and has printed what was wrong.
#pragma once

namespace gt::tracer {

int run_command(int argc, char** argv);
int ctl_command(int argc, char** argv);
int recover_command(int argc, char** argv);
int show_command(int argc, char** argv);
int expand_command(int argc, char** argv);
int stats_command(int argc, char** argv);
int top_command(int argc, char** argv);
int view_command(int argc, char** argv);
int doctor_command(int argc, char** argv);
int digest_command(int argc, char** argv);
int diff_command(int argc, char** argv);
int export_command(int argc, char** argv);
int replay_command(int argc, char** argv);
int extract_command(int argc, char** argv);

}  // namespace gt::tracer
