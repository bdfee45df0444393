// SPDX-License-Identifier: Apache-2.0
// koord.metrics/1, the half that reads: a plugin's query becomes one of the metric cache, and its rows get
// the handles of the subjects and series that still live. [any thread]
#pragma once

#include <cstdint>

#include "core/base/result.hpp"
#include "koordetector/plugin.h"

namespace koord::service {

class PluginContext;

// The most rows or samples in one answer.
inline constexpr std::uint32_t kMaxRows = 100'000;

Result<koord_status> answer_aggregate(PluginContext& context, const koord_query* query, koord_agg_row* rows,
                                      std::uint32_t cap, std::uint32_t stride, std::uint32_t* need);

Result<koord_status> answer_samples(PluginContext& context, const koord_query* query, koord_sample* out,
                                    std::uint32_t cap, std::uint32_t stride, std::uint32_t* need);

}  // namespace koord::service
