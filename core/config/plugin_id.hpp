// SPDX-License-Identifier: Apache-2.0
// How plugins are called: the host's own by plain names ("advisor-pod-resource"), those of others by reverse domain
// names ("com.example.softirqs"). [any thread]
#pragma once

#include <string_view>

namespace koord::config {

inline constexpr std::string_view kPluginIdForm = "a plain or reverse domain name of a-z, 0-9, '-' and '.'";

bool is_plugin_id(std::string_view text);

}  // namespace koord::config
