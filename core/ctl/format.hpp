// SPDX-License-Identifier: Apache-2.0
// Formats values for people; "-": unknown.
#pragma once

#include <optional>
#include <string>

namespace koord::ctl {

std::string format_cores(std::optional<double> cores);      // "0.503"
std::string format_bytes(std::optional<double> bytes);      // "1.5Gi"
std::string format_seconds(std::optional<double> seconds);  // "12.3ms"
std::string format_percent(std::optional<double> ratio);    // "12.5%" for 0.125
std::string format_number(std::optional<double> number);    // shortest exact form, "0.5"
std::string format_wall_time(double unix_seconds);  // "2026-01-02 03:04:05" in UTC; "-" if the year has not four digits
std::string text_or_dash(std::string text);         // "-" for an empty text

}  // namespace koord::ctl
