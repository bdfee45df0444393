// SPDX-License-Identifier: Apache-2.0
// Verdicts in messages between host and child. Pure. [any thread]
#pragma once

#include <vector>

#include "core/child/wire.hpp"
#include "core/verdict/store.hpp"

namespace koord::child {

// The members that a plugin posts.
void add_posted(Packer& out, const std::vector<verdict::Record>& records);
std::vector<verdict::Record> take_posted(Unpacker& in);

// Those and what the host adds.
void add_standing(Packer& out, const verdict::CurrentVerdicts& standing);
verdict::CurrentVerdicts take_standing(Unpacker& in);

}  // namespace koord::child
