// SPDX-License-Identifier: Apache-2.0
// Checks of the verdicts that a plugin posts, as far as nothing of the host is needed for them: the same on both sides
// of a channel. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/service/record_arguments.hpp"
#include "core/verdict/record.hpp"
#include "koordetector/plugin.h"

namespace koord::service {

// Handles are not looked up: labels and names of subjects are missing in the result.
Result<std::vector<verdict::Record>> verdicts_argument(const koord_verdict* verdicts, std::uint32_t n,
                                                       std::uint32_t stride);
Result<verdict::Key> verdict_key_argument(std::uint64_t victim, std::uint32_t resource, std::uint32_t kind);
Result<std::string> why_argument(koord_str why);  // of koord.verdict/1 end()
Result<void> on_argument(std::int32_t on);        // of koord.verdict/1 subscribe()

Refusal refusal_of_verdict(const Error& error);

}  // namespace koord::service
