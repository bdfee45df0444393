// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/agent_refusal.hpp"

#include <filesystem>
#include <system_error>

#include "core/load/file_trust.hpp"
#include "core/load/grants.hpp"

namespace koord::ctl {

std::string agent_refusal(const std::string& path, const load::Manifest& manifest) {
  std::error_code error;
  if (auto trusted = load::check_trusted_file(std::filesystem::absolute(path, error).string()); !trusted)
    return trusted.error().message();
  if (auto compatible = load::check_compatible(manifest); !compatible) return compatible.error().message();
  if (auto granted = load::check_required_services(manifest); !granted) return granted.error().message();
  return {};
}

}  // namespace koord::ctl
