// SPDX-License-Identifier: Apache-2.0
// A task that is posted to a loop, a pool or a strand. It must not throw: an exception that leaves it ends
// the agent.
#pragma once

#include <functional>

namespace koord::event {

using Task = std::function<void()>;

}  // namespace koord::event
