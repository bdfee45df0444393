// SPDX-License-Identifier: Apache-2.0
#include <boost/json/value.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/base/base64.hpp"
#include "core/config/json.hpp"
#include "core/json/field.hpp"
#include "core/kube/connection_config.hpp"
#include "core/kube/server_url.hpp"

namespace koord::kube {
namespace {

// Finds the mapping named `name` in a list such as "users", and returns its member `inner`, such as "user".
Result<JsonField> named(const JsonField& root, const std::string& list, std::string_view inner,
                        const std::string& name) {
  const std::vector<JsonField> entries = TRY(root[list].list());
  for (const JsonField& entry : entries) {
    TRY(entry.check_mapping());
    const std::string its_name = TRY(entry["name"].text());
    if (its_name != name) continue;
    TRY(entry[inner].check_mapping());
    return entry[inner];
  }
  return root[list].wrong("found nothing with the name '" + name + "'");
}

std::string in_directory(const std::string& directory, const std::string& file) {
  return file.empty() || file.starts_with('/') || directory.empty() ? file : directory + "/" + file;
}

// Reads PEM from the member "…-data" in base64, or else the file name in the member "…".
Result<Pem> pem_at(const JsonField& place, const std::string& key, const std::string& directory) {
  const std::string data_key = key + "-data";
  const std::string data = TRY(place[data_key].text());
  if (!data.empty()) {
    auto text = decode_base64(data);
    if (!text || text->find("-----BEGIN ") == std::string::npos) return place[data_key].wrong("expected PEM in base64");
    return Pem{.text = std::move(*text)};
  }
  const std::string file = TRY(place[key].text());
  return Pem{.file = in_directory(directory, file)};
}

Result<void> refuse(const JsonField& place, std::string_view key, const std::string& instead) {
  if (place[key].empty() || place[key].is_false()) return {};
  return place[key].wrong("is not supported, expected " + instead);
}

Result<void> read_cluster(const JsonField& cluster, const std::string& directory, ConnectionConfig& config) {
  TRY(refuse(cluster, "insecure-skip-tls-verify",
             "certificate-authority: the certificate of the server is always verified"));
  TRY(refuse(cluster, "proxy-url", "a server that is reached without a proxy"));
  const std::string server = TRY(cluster["server"].text());
  Result<ServerUrl> url = parse_server_url(server);
  if (!url) return std::move(url).error().context(cluster["server"].path());
  config.host = std::move(url->host);
  config.port = url->port;
  config.path_prefix = std::move(url->path_prefix);
  config.server_name = TRY(cluster["tls-server-name"].text());
  config.ca = TRY(pem_at(cluster, "certificate-authority", directory));
  return {};
}

Result<void> read_user(const JsonField& user, const std::string& directory, ConnectionConfig& config) {
  const std::string instead = "token, tokenFile or client-certificate";
  for (const char* key : {"exec", "auth-provider", "username", "password"}) TRY(refuse(user, key, instead));
  for (const char* key : {"as", "as-uid", "as-groups", "as-user-extra"})
    TRY(refuse(user, key, "credentials of our own"));
  config.certificate = TRY(pem_at(user, "client-certificate", directory));
  config.key = TRY(pem_at(user, "client-key", directory));
  config.token = TRY(user["token"].text());
  const std::string token_file = TRY(user["tokenFile"].text());
  config.token_file = in_directory(directory, token_file);
  const bool certificate = config.certificate != Pem(), key = config.key != Pem();
  if (certificate != key)
    return user[certificate ? "client-key" : "client-certificate"].wrong("found nothing, expected it beside the other");
  return {};
}

}  // namespace

Result<ConnectionConfig> parse_kubeconfig(std::string_view text, const std::string& directory,
                                          std::string_view context) {
  const boost::json::value value = TRY(config::read_yaml_as_json(text, "kubeconfig"));
  if (!value.is_object()) return invalid("kubeconfig: expected a mapping with clusters, users and contexts");
  const JsonField root(value);

  std::string name(context);
  if (name.empty()) name = TRY(root["current-context"].text());
  if (name.empty()) return root["current-context"].wrong("found nothing, expected the name of a context");
  const JsonField chosen = TRY(named(root, "contexts", "context", name));
  const std::string cluster_name = TRY(chosen["cluster"].text()), user_name = TRY(chosen["user"].text());

  ConnectionConfig config;
  config.name_space = TRY(chosen["namespace"].text());
  const JsonField cluster = TRY(named(root, "clusters", "cluster", cluster_name));
  TRY(read_cluster(cluster, directory, config));
  if (user_name.empty()) return config;
  const JsonField user = TRY(named(root, "users", "user", user_name));
  TRY(read_user(user, directory, config));
  return config;
}

}  // namespace koord::kube
