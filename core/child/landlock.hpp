// SPDX-License-Identifier: Apache-2.0
// LandlockRules: which files a child may read and write, by the kernel's Landlock (Linux 5.13). Newer kernels add to
// it: truncation (ABI 3), TCP (4), ioctl on devices (5), signals and abstract sockets (6). An older ABI has what it
// has.
//
// A process with such rules cannot look into processes without them (ptrace, files of /proc/PID that need it), whatever
// its capabilities. [any thread]
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "core/child/launch_spec.hpp"

namespace koord::child {

// The highest ABI that this tree knows.
inline constexpr unsigned kNewestLandlockAbi = 6;

// The ABI of this kernel, at most the newest that is known; an error says why it is unavailable.
Result<unsigned> landlock_abi();

class LandlockRules {
 public:
  // Opens the paths. Call it before the child gives up the right to open them.
  static Result<LandlockRules> make(const LaunchSpec& spec);
  // Holds for this thread and all that it starts from then on. Needs no_new_privs.
  Result<void> enforce() const;

 private:
  explicit LandlockRules(UniqueFd ruleset) : ruleset_(std::move(ruleset)) {}
  UniqueFd ruleset_;
};

}  // namespace koord::child
