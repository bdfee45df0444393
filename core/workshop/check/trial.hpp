// SPDX-License-Identifier: Apache-2.0
// A trial: a piece of work in a child process that has a time limit and may crash. How it ended, and in which call of
// the plugin, is the finding then. [any thread of a process that has one: the child is forked]
#pragma once

#include <functional>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/workshop/check/rule.hpp"

namespace koord::check {

inline constexpr Duration kTrialPatience = std::chrono::seconds(30);

Outcome try_apart(const std::function<Outcome()>& body, Duration patience = kTrialPatience);

// In the child: which call of the plugin begins now; "": it has returned.
void note_call(std::string_view what) noexcept;
// In the child: notes the special condition of this trial, for a child that does not survive it.
void note_circumstance(std::string_view what) noexcept;

}  // namespace koord::check
