// SPDX-License-Identifier: BSD-3-Clause
#include "support/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/files.hpp"
#include "support/text.hpp"

namespace stretto {
namespace {

/// Version 2: "QUOTA PERIOD" or "max PERIOD" in cpu.max of the group and of those above it.
int quota_of(std::string group) {
  int quota = no_quota;
  for (;;) {
    double time = 0, period = 0;  // "max" is no number
    std::sscanf(read_file(("/sys/fs/cgroup" + group + "/cpu.max").c_str()).c_str(), "%lf %lf", &time, &period);
    if (time > 0 && period > 0) quota = std::min(quota, static_cast<int>(std::ceil(time / period)));
    if (group.empty()) return quota;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

/// Version 1: two files, where the group's own tree is mounted as the root.
int quota_of_first_version() {
  const double time = std::atof(read_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").c_str());
  const double period = std::atof(read_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us").c_str());
  if (time <= 0 || period <= 0) return no_quota;
  return static_cast<int>(std::ceil(time / period));
}

}  // namespace

CoreSet allowed_cores() {
  CoreSet cores;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return cores;
  for (std::size_t core = 0; core < cores.size(); ++core) cores[core] = CPU_ISSET(core, &mask);
  return cores;
}

int core_quota() {
  int quota = quota_of_first_version();
  const std::string groups = read_file("/proc/self/cgroup");
  for (std::string_view rest = groups; !rest.empty();) {
    const std::string_view line = take_line(rest);
    if (line.starts_with("0::/")) quota = std::min(quota, quota_of(std::string(line.size() > 4 ? line.substr(3) : "")));
  }
  return quota;
}

}  // namespace stretto
