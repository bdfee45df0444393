// SPDX-License-Identifier: Apache-2.0
// What is posted to a loop, a pool or a strand. A task must not throw: an exception that leaves it ends the
// agent.
#pragma once

#include <functional>

namespace koord::event {

using Task = std::function<void()>;

}  // namespace koord::event
