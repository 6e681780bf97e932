// SPDX-License-Identifier: BSD-3-Clause
//
// libstretto-session, which `stretto run` preloads into MPICH's launcher. MPICH's launcher gives each rank a session of
// its own (setsid), and where autogroups are on (sched(7)), Linux divides the cores among sessions: a rank that yields
// its core gives up its turn within its session only, where it is alone. Where ranks share a core, one that works then
// gets no more of it than each of those that wait. Here the ranks of a node stay in one session, as under other MPIs.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

/// The launcher's proxy calls this in each rank's process, and ends ranks by their process groups: those stay apart.
/// The proxy itself needs a session of its own, or the ranks would be in that of the user's terminal.
extern "C" [[gnu::visibility("default")]] pid_t setsid() noexcept {
  if (std::strcmp(program_invocation_short_name, "hydra_pmi_proxy") != 0)
    return static_cast<pid_t>(syscall(SYS_setsid));
  return setpgid(0, 0) == 0 ? getpid() : -1;
}
