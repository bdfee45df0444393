// SPDX-License-Identifier: Apache-2.0
// The thread that starts every child. PR_SET_PDEATHSIG follows the thread that forked, not its process: a child that a
// worker had started would be killed when that worker ends. This thread ends with the process only. [any thread]
#pragma once

#include <functional>

namespace koord::child {

// Runs the work on that thread, one at a time, and waits for its result.
int run_on_spawner(const std::function<int()>& work);

}  // namespace koord::child
