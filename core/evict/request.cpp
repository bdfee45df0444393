// SPDX-License-Identifier: Apache-2.0
#include "core/evict/request.hpp"

namespace koord::evict {
namespace {

constexpr std::string_view kRequest = ".request";
constexpr std::string_view kFeature = "feature";

}  // namespace

Result<Release> parse_release(std::string_view text) {
  if (text == "cpu" || text == "memory") return Release{true, std::string(text)};
  if (text.ends_with(kRequest) && text.size() > kRequest.size())
    return Release{false, std::string(text.substr(0, text.size() - kRequest.size()))};
  if (text.find('/') != std::string_view::npos) return Release{false, std::string(text)};
  return invalid("'" + std::string(text) +
                 "' is nothing that a pod releases: expected 'cpu', 'memory' or '<resource>.request'");
}

std::string_view feature_of(const Request& request, std::string_view plugin) {
  for (const auto& [name, value] : request.inputs)
    if (name == kFeature) return value;
  return plugin;
}

}  // namespace koord::evict
