// SPDX-License-Identifier: Apache-2.0
// How `koordctl plugin run` shows a run. Pure: text out of values.
#pragma once

#include <string>

#include "core/workshop/run.hpp"

namespace koord::ctl {

// Metrics, proposals and adjustments, each a table where there are any; then the calls, summed up.
std::string tables_of(const workshop::RunReport& report);
std::string json_of(const workshop::RunReport& report);
// The calls as JSON in the Trace Event Format, a row for each class. Source: "Trace Event Format", the Chromium
// project.
std::string trace_of(const workshop::RunReport& report);

}  // namespace koord::ctl
