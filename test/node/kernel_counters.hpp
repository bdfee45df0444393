// SPDX-License-Identifier: Apache-2.0
// Values of a cgroup from the kernel's files, read without the agent's reader, and processes with a known usage of CPU
// and memory.
#pragma once

#include <cstddef>
#include <functional>

#include "test/support/child_process.hpp"
#include "test/support/real_cgroup.hpp"

namespace koord::test {

double cpu_seconds(const RealCgroup& cgroup);

// The CPU time used so far, and the time of the read. Two reads before and two reads after give bounds for a rate.
struct Moment {
  double cpu, wall;  // seconds
};
Moment read_moment(const RealCgroup& cgroup);

struct Throttling {
  double periods = 0, throttled = 0, seconds = 0;
};
Throttling throttling(const RealCgroup& cgroup);

// A process in the cgroup that always uses the CPU.
class Burner {
 public:
  explicit Burner(const RealCgroup& cgroup);

 private:
  ChildProcess process_;
};

// A process that joins the cgroup, does some work, and then sleeps. The constructor returns after the work.
class Inhabitant {
 public:
  Inhabitant(const RealCgroup& cgroup, const std::function<void()>& work);

 private:
  struct Pipe {
    Pipe();
    ~Pipe();
    int ends[2];
  };
  Pipe done_;
  ChildProcess process_;
};

// Work for an Inhabitant: touches and keeps this many bytes of memory.
void hold_memory(std::size_t bytes);

}  // namespace koord::test
