// SPDX-License-Identifier: Apache-2.0
// Settings in the ConfigMap slo-controller-config that have no effect: unknown keys and fields, which are often typing
// errors, and those that only Koordinator's manager acts on. Pure. [any thread]
#pragma once

#include <boost/json/fwd.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace koord::manager {

struct IgnoredSettings {
  static constexpr std::size_t kMostNamed = 16;  // in `lines`; more are counted

  std::size_t unknown = 0;
  std::size_t unsupported = 0;     // only Koordinator's manager acts on them
  std::vector<std::string> lines;  // one for each setting

  static IgnoredSettings of(const boost::json::object& data);
};

}  // namespace koord::manager
