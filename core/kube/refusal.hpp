// SPDX-License-Identifier: Apache-2.0
// Text of an unexpected answer. [any thread]
#pragma once

#include <string>

#include "core/base/result.hpp"
#include "core/kube/client.hpp"
#include "core/kube/object.hpp"

namespace koord::kube {

// The answer's object of kind Status, or its beginning as the message; the code is always the answer's, and the wait
// that the server asks for stands in the header or in the object.
Status status_of(const Reply& reply);

// "409 Conflict: the object has been modified", of an error its message. One line of at most some 300 bytes.
std::string describe(const Status& status);
std::string describe(const Result<Reply>& reply);

}  // namespace koord::kube
