// SPDX-License-Identifier: Apache-2.0
// Check: one plugin's file against all the rules. Its code runs in children only. [any thread of a process that has
// one]
#pragma once

#include <functional>
#include <string>

#include "core/base/result.hpp"
#include "core/workshop/check/rule.hpp"

namespace koord::check {

struct CheckOptions {
  Floor floor = {};
  std::string config_json = "{}";
  bool file_only = false;  // run nothing
};

// Reports each outcome when it is known, in the order of the rules. An error: the file is no shared object that can be
// read.
Result<void> check_plugin(const std::string& path, const CheckOptions& options,
                          const std::function<void(const Rule&, const Outcome&)>& report);

}  // namespace koord::check
