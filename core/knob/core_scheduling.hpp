// SPDX-License-Identifier: Apache-2.0
// CoreSchedulingCalls: prctl(PR_SCHED_CORE) of the kernel (Documentation/admin-guide/hw-vuln/core-scheduling.rst of
// Linux). Each thread has a cookie; threads with different cookies never run on one core at the same time. An interface
// so that tests can act as a kernel that has core scheduling. [any thread]
#pragma once

#include <cstdint>
#include <functional>

namespace koord::knob {

class CoreSchedulingCalls {
 public:
  virtual ~CoreSchedulingCalls() = default;
  // Each returns 0 or an errno.
  virtual int get(std::int32_t thread, std::uint64_t& cookie) const = 0;  // thread 0: the calling one
  virtual int create() const = 0;                                         // the calling thread gets a new cookie
  virtual int share_from(std::int32_t thread) const = 0;  // the calling thread gets the cookie of another
  virtual int share_to(std::int32_t process) const = 0;   // all threads of a process get that of the calling one
};

class KernelCoreScheduling final : public CoreSchedulingCalls {
 public:
  int get(std::int32_t thread, std::uint64_t& cookie) const override;
  int create() const override;
  int share_from(std::int32_t thread) const override;
  int share_to(std::int32_t process) const override;
};

// Runs on a thread of its own that ends before this returns: the cookies that it takes leave no trace in the agent.
void on_throw_away_thread(const std::function<void()>& body);

}  // namespace koord::knob
