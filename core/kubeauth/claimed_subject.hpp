// SPDX-License-Identifier: Apache-2.0
// The subject that a token claims. A forged token claims what it likes, so a claim decides about turns only. [any
// thread]
#pragma once

#include <string>
#include <string_view>

namespace koord::kubeauth {

// Returns the `sub` of a ServiceAccount's token (a JSON Web Token), with the node and the ServiceAccount's uid that it
// is bound to. Equal for a token and the one that replaces it. "": no such token, or one with a long subject.
std::string claimed_subject(std::string_view token);

}  // namespace koord::kubeauth
