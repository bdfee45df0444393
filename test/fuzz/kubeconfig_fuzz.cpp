// SPDX-License-Identifier: Apache-2.0
// Kubeconfig files: accepted values must be valid in requests, and errors must be short and name the problem.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/base64.hpp"
#include "core/kube/connection_config.hpp"
#include "core/kube/server_url.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::kube;

namespace {

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

bool is_pem_or_nothing(const Pem& pem) {
  return pem.text.empty() || (pem.file.empty() && pem.text.find("-----BEGIN ") != std::string::npos);
}

void check_config(const ConnectionConfig& config) {
  check(!config.host.empty() && config.port != 0 && is_printable(config.host) && is_printable(config.path_prefix));
  check(config.host.find_first_of("/?#@[]") == std::string::npos);
  check(config.path_prefix.empty() || (config.path_prefix.starts_with('/') && !config.path_prefix.ends_with('/')));
  check(is_pem_or_nothing(config.ca) && is_pem_or_nothing(config.certificate) && is_pem_or_nothing(config.key));
  check((config.certificate == Pem()) == (config.key == Pem()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto config = parse_kubeconfig(text, "/etc/kubernetes"))
    check_config(*config);
  else
    check(!config.error().message().empty());
  if (auto url = parse_server_url(text)) check(!url->host.empty() && url->port != 0);
  if (auto bytes = decode_base64(text)) check(bytes->size() <= text.size() / 4 * 3);
  return 0;
}
