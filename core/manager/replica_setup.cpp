// SPDX-License-Identifier: Apache-2.0
#include "core/manager/replica_setup.hpp"

#include <cstdlib>
#include <vector>

#include "core/base/ip_address.hpp"
#include "core/base/object_name.hpp"
#include "core/base/parse.hpp"
#include "core/http/tls_server.hpp"

namespace koord::manager {
namespace {

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Result<void> check_namespace(const config::ManagerConfig& config, const Environment& environment) {
  const std::string& name = environment.pod_namespace;
  if (!config.lease.name_space.empty() || name.empty() || is_dns_label(name)) return {};
  return invalid("$POD_NAMESPACE: expected the name of a namespace (" + std::string(kDnsLabelRule) + "), found '" +
                 name + "'");
}

Result<void> check_certificate(const config::ManagerConfig& config, const Environment& environment) {
  const config::ManagerConfig::Serve& serve = config.serve;
  if (serve.address.empty()) return {};
  const auto tls = http::TlsServer::open({.certificate_file = serve.certificate_file,
                                          .key_file = serve.key_file,
                                          .server_name = server_name(config, environment)});
  if (!tls) return with_file_key(tls.error(), serve);
  if (const std::string problem = (*tls)->name_problem(); !problem.empty())
    return invalid("serve.certificateFile: " + problem);
  return {};
}

Result<void> check_address(const config::ManagerConfig& config, const Environment& environment) {
  const std::uint16_t any_port = config.serve.address.empty() ? 0 : 1;
  const Result<std::string> address = advertised(config, environment, any_port);
  return address ? Result<void>() : address.error();
}

}  // namespace

Environment Environment::of_process() {
  return {from_environment("POD_IP"), from_environment("POD_NAME"), from_environment("POD_NAMESPACE")};
}

std::string lease_namespace(const config::ManagerConfig& config, const Environment& environment) {
  if (!config.lease.name_space.empty()) return config.lease.name_space;
  return environment.pod_namespace.empty() ? "koordetector" : environment.pod_namespace;
}

std::string server_name(const config::ManagerConfig& config, const Environment& environment) {
  if (config.serve.service.empty()) return {};
  return config.serve.service + '.' + lease_namespace(config, environment) + ".svc";
}

Result<std::string> advertised(const config::ManagerConfig& config, const Environment& environment,
                               std::uint16_t api_port) {
  if (!config.advertise.empty()) return config.advertise;
  const std::string& address = environment.pod_ip;
  if (address.empty()) {
    if (api_port == 0 || config.serve.service.empty()) return std::string();
    return invalid("advertise: expected an IP address and a port, such as '10.0.0.7:9443', since neither it nor "
                   "$POD_IP is set and serve.service '" +
                   config.serve.service + "' must lead to this replica; found \"\"");
  }
  const bool is_ipv6 = is_ipv6_address(address);
  if (!is_ipv6 && !is_ipv4_address(address)) return invalid("$POD_IP: expected an IP address, found '" + address + "'");
  if (config.listen.empty() && api_port == 0) return std::string();
  const std::string port =
      api_port > 0 ? ':' + std::to_string(api_port) : config.listen.substr(config.listen.rfind(':'));
  return (is_ipv6 ? '[' + address + ']' : address) + port;
}

Error with_file_key(Error error, const config::ManagerConfig::Serve& serve) {
  const bool is_key = error.text.find("'" + serve.key_file + "'") != std::string::npos;
  return std::move(error).context(is_key && serve.key_file != serve.certificate_file ? "serve.keyFile"
                                                                                     : "serve.certificateFile");
}

Result<void> check_setup(const config::ManagerConfig& config, const Environment& environment) {
  std::vector<std::string> problems;
  for (const Result<void>& checked : {check_namespace(config, environment), check_address(config, environment),
                                      check_certificate(config, environment)})
    if (!checked) problems.push_back(checked.error().message());
  return problems.empty() ? Result<void>() : invalid(join(problems, "\n"));
}

}  // namespace koord::manager
