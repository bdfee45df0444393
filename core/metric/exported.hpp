// SPDX-License-Identifier: Apache-2.0
// Exported: the series of one metric that are in the text for Prometheus, by the kind of their subject; HostExported:
// those of one of the host's own families, by their value. [any thread]
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "core/metric/desc.hpp"
#include "core/metric/labels.hpp"

namespace koord::metric {

struct Exported {
  bool node = true, pods = true, containers = true;
  bool zero_containers = true;  // false: a container's series is in the text only while its value is not 0

  bool has(SubjectKind kind, double value) const {
    switch (kind) {
      case SubjectKind::node:
        return node;
      case SubjectKind::pod:
        return pods;
      case SubjectKind::container:
        break;
    }
    return containers && (zero_containers || value != 0);
  }
  bool operator==(const Exported&) const = default;
};
inline constexpr Exported kNotExported{.node = false, .pods = false, .containers = false, .zero_containers = true};

using ExportRule = std::function<Exported(const Desc& desc)>;

enum class HostExported : std::uint8_t { always, unless_zero, unless_one, if_negative, never };
// `family`: without the prefix "koordetector_".
using HostExportRule = std::function<HostExported(std::string_view family)>;

}  // namespace koord::metric
