// SPDX-License-Identifier: Apache-2.0
// close_elsewhere: closes a descriptor that an untrusted process sent. close(2) of a socket that lingers, or of a file
// of a file system that does not answer, takes as long as the sender likes; here a thread of its own waits for it. When
// many threads wait already the descriptor stays open. [any thread]
#pragma once

#include "core/base/unique_fd.hpp"

namespace koord::child {

void close_elsewhere(UniqueFd fd);

// How many descriptors stay open since too many threads waited.
unsigned descriptors_left_open();

}  // namespace koord::child
