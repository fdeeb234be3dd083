// gproxy worker: serves one client, then ends. Started by the supervisor only.
#pragma once

namespace gt::proxy {

int worker_command(int argc, char** argv);

}  // namespace gt::proxy
