// SPDX-License-Identifier: Apache-2.0
#include "core/kube/connection_config.hpp"

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::kube {
namespace {

constexpr std::size_t kMaxConfigBytes = 1 << 20;
constexpr std::size_t kMaxNamespaceBytes = 4 << 10;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

Result<ConnectionConfig> read_kubeconfig(const std::string& path) {
  const std::string text = TRY(read_file(path, kMaxConfigBytes));
  Result<ConnectionConfig> config = parse_kubeconfig(text, std::filesystem::path(path).parent_path().string());
  if (!config) return std::move(config).error().context("'" + path + "'");
  return config;
}

Result<std::uint16_t> port_in(const std::string& variable) {
  const std::string text = environment(variable.c_str());
  const auto port = parse_uint(text);
  if (!port || *port == 0 || *port > std::numeric_limits<std::uint16_t>::max())
    return invalid("$" + variable + ": found '" + text + "', expected a port, 1 to 65535");
  return static_cast<std::uint16_t>(*port);
}

Result<void> check_readable(const std::string& path) {
  TRY(open_at(AT_FDCWD, path, O_RDONLY));
  return {};
}

}  // namespace

Result<ConnectionConfig> in_cluster_config(const std::string& account) {
  ConnectionConfig config;
  config.host = environment("KUBERNETES_SERVICE_HOST");
  if (config.host.empty())
    return not_found(
        "$KUBERNETES_SERVICE_HOST is not set, expected a pod of a cluster with a service account, or a kubeconfig");
  config.port = TRY(port_in("KUBERNETES_SERVICE_PORT"));
  config.ca.file = account + "/ca.crt";
  config.token_file = account + "/token";
  for (const std::string& file : {config.ca.file, config.token_file}) {
    if (Result<void> readable = check_readable(file); !readable)
      return std::move(readable).error().context("the pod's service account");
  }
  // This is the only file that a service account may lack.
  if (auto name = read_file(account + "/namespace", kMaxNamespaceBytes)) config.name_space = trim(*name);
  return config;
}

Result<ConnectionConfig> find_config(const std::string& path) {
  if (!path.empty()) return read_kubeconfig(path);
  const std::string named = environment("KUBECONFIG");
  if (named.empty()) return in_cluster_config();
  Result<ConnectionConfig> config = read_kubeconfig(named);
  if (!config) return std::move(config).error().context("$KUBECONFIG");
  return config;
}

ConnectionConfig kubelet_config(const ConnectionConfig& api_server, std::string host, std::uint16_t port,
                                const std::string& ca_file, const std::string& server_name) {
  ConnectionConfig config = api_server;
  config.host = std::move(host);
  config.port = port;
  config.path_prefix.clear();
  config.server_name = server_name;
  if (!ca_file.empty()) config.ca = {.file = ca_file};
  return config;
}

}  // namespace koord::kube
