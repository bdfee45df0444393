// SPDX-License-Identifier: Apache-2.0
// The thread that starts every child. PR_SET_PDEATHSIG follows the thread that forked, not its process: a child that a
// worker had started would be killed when that worker ends. This thread ends with the process only. [any thread]
#pragma once

#include <sys/types.h>

#include <functional>

#include "core/base/unique_fd.hpp"

namespace koord::child {

// Runs the work on that thread, one at a time, and waits for its result.
int run_on_spawner(const std::function<int()>& work);

// Reaps a child that was killed and has not ended yet, within a second of its end. Returns immediately.
void reap_later(pid_t pid, UniqueFd pidfd);

}  // namespace koord::child
