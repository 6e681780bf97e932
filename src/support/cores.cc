// SPDX-License-Identifier: BSD-3-Clause
#include "support/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "support/files.hpp"
#include "support/text.hpp"

namespace stretto {
namespace {

/// Version 2: "QUOTA PERIOD" or "max PERIOD" in cpu.max of the group and of those above it.
int quota_of(std::string group) {
  int quota = no_quota;
  for (;;) {
    const std::string text = read_file(("/sys/fs/cgroup" + group + "/cpu.max").c_str());
    const char* at = text.c_str();
    const double time = number_from(at, 0);
    const double period = number_from(at, 0);
    if (time > 0 && period > 0) quota = std::min(quota, static_cast<int>(std::ceil(time / period)));
    if (group.empty()) return quota;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

/// Version 1: two files, where the group's own tree is mounted as the root.
int quota_of_first_version() {
  const auto number_in = [](const char* path) {
    const std::string text = read_file(path);
    const char* at = text.c_str();
    return number_from(at, 0);
  };
  const double time = number_in("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  const double period = number_in("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
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
