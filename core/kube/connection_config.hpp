// SPDX-License-Identifier: Apache-2.0
// ConnectionConfig: the address of a server with Kubernetes' API, the authorities to trust, and our own credentials.
// From a kubeconfig file or from the service account of the agent's own pod. Files are named, not read: they are
// replaced while the agent runs. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::kube {

// PEM text or the path of a file with it; both empty: none.
struct Pem {
  std::string file;
  std::string text;

  bool operator==(const Pem&) const = default;
};

struct ConnectionConfig {
  std::string host;  // a name or an address, an IPv6 address without brackets
  std::uint16_t port = 443;
  std::string path_prefix;  // "" or "/prefix", before every target
  std::string server_name;  // name in its certificate; empty: the host
  Pem ca;                   // empty: the system's authorities
  Pem certificate, key;     // of the client; empty: none
  std::string token_file;   // wins over token
  std::string token;
  std::string name_space;  // of the context, or of our pod; may be empty

  bool operator==(const ConnectionConfig&) const = default;
};

// A kubeconfig's current context, or the one named. An error names the file's field; `exec`, `auth-provider` and
// `insecure-skip-tls-verify` are refused. Relative files count from `directory`.
Result<ConnectionConfig> parse_kubeconfig(std::string_view text, const std::string& directory,
                                          std::string_view context = {});

// $KUBERNETES_SERVICE_HOST and _PORT and the mounted service account; an error names the missing part. `account`: the
// directory, for tests.
Result<ConnectionConfig> in_cluster_config(
    const std::string& account = "/var/run/secrets/kubernetes.io/serviceaccount");

// `path`, else $KUBECONFIG, else the service account.
Result<ConnectionConfig> find_config(const std::string& path);

// The kubelet on this node: our credentials, its own address. `ca_file` may be empty: the authorities of the API
// server, and so may `server_name`: the host.
ConnectionConfig kubelet_config(const ConnectionConfig& api_server, std::string host, std::uint16_t port,
                                const std::string& ca_file, const std::string& server_name);

}  // namespace koord::kube
