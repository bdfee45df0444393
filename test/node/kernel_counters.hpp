// SPDX-License-Identifier: Apache-2.0
// Values of a cgroup from the kernel's own files, read without the agent's reader; and processes with a known usage of
// CPU and memory.
#pragma once

#include <cstddef>
#include <functional>

#include "test/support/child_process.hpp"
#include "test/support/real_cgroup.hpp"

namespace koord::test {

double cpu_seconds(const RealCgroup& cgroup);

// CPU used so far, and when it was read: between two reads before and two reads after a rate is bounded.
struct Moment {
  double cpu, wall;  // seconds
};
Moment read_moment(const RealCgroup& cgroup);

struct Throttling {
  double periods = 0, throttled = 0, seconds = 0;
};
Throttling throttling(const RealCgroup& cgroup);

// A process of the cgroup that never rests.
class Burner {
 public:
  explicit Burner(const RealCgroup& cgroup);

 private:
  ChildProcess process_;
};

// A process that came into the cgroup, did some work, and sleeps from then on. The work is done when the
// constructor returns.
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

// Work for one: memory of this many bytes, touched and kept.
void hold_memory(std::size_t bytes);

}  // namespace koord::test
