// SPDX-License-Identifier: Apache-2.0
// Formats a run of `koordctl plugin run`. Pure: values in, text out.
#pragma once

#include <string>

#include "core/workshop/run.hpp"

namespace koord::ctl {

// Returns tables of metrics, proposals and adjustments (without empty tables), and after them a summary of the calls.
std::string tables_of(const workshop::RunReport& report);
std::string json_of(const workshop::RunReport& report);
// Returns the calls as JSON in the Trace Event Format, one row for each class. Source: "Trace Event Format", the
// Chromium project.
std::string trace_of(const workshop::RunReport& report);

}  // namespace koord::ctl
