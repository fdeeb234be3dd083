// The commands of gproxy, for its main().
#pragma once

namespace gt::proxy {

constexpr const char* Program = "gproxy";

int serve_command(int argc, char** argv);
int status_command(int argc, char** argv);

}  // namespace gt::proxy
