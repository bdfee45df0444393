// SPDX-License-Identifier: Apache-2.0
// Values that a replica derives from its configuration and its environment: the namespace of the Lease, its address,
// the name that its certificate must have. --check-config checks them. An error names the key or the variable. [any
// thread]
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.hpp"
#include "core/config/manager_config.hpp"

namespace koord::manager {

// Variables of the environment; empty: not set.
struct Environment {
  std::string pod_ip, pod_name, pod_namespace;

  static Environment of_process();
};

std::string lease_namespace(const config::ManagerConfig& config, const Environment& environment);

// Returns the DNS name by which the API server and agents verify the certificate of serve.address, that of the Service;
// empty: the leader is not published by a Service.
std::string server_name(const config::ManagerConfig& config, const Environment& environment);

// Returns the address that the Lease names; empty: none is known. `api_port`: of the aggregated API; 0: it is not
// served. Fails if the address is required and unknown, or $POD_IP is no address.
Result<std::string> advertised(const config::ManagerConfig& config, const Environment& environment,
                               std::uint16_t api_port);

// Puts the key in front of an error about the certificate or the key file.
Error with_file_key(Error error, const config::ManagerConfig::Serve& serve);

// Checks what a start would use: environment, certificate and key. An error has all problems, a line each.
Result<void> check_setup(const config::ManagerConfig& config, const Environment& environment);

}  // namespace koord::manager
