// SPDX-License-Identifier: Apache-2.0
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <utility>

#include "core/base/base64.hpp"
#include "core/config/json.hpp"
#include "core/kube/connection_config.hpp"
#include "core/kube/server_url.hpp"

namespace koord::kube {
namespace {

namespace json = boost::json;

const char* kind_of(const json::value& value) {
  if (value.is_object()) return "a mapping";
  if (value.is_array()) return "a list";
  if (value.is_string()) return "a string";
  return value.is_bool() ? "true or false" : "a number";
}

// A mapping of the file, and where it stands: "users[1].user".
struct Place {
  const json::object* object = nullptr;  // null: it is not there
  std::string path;

  std::string at(std::string_view key) const { return path.empty() ? std::string(key) : path + "." + std::string(key); }
  // Null where it is missing or null.
  const json::value* find(std::string_view key) const {
    const json::value* const value = object != nullptr ? object->if_contains(key) : nullptr;
    return value != nullptr && !value->is_null() ? value : nullptr;
  }
  Error wrong(std::string_view key, const std::string& text) const { return invalid(at(key) + ": " + text); }
};

Result<std::string> text_at(const Place& place, std::string_view key) {
  const json::value* const value = place.find(key);
  if (value == nullptr) return std::string();
  if (!value->is_string()) return place.wrong(key, std::string("found ") + kind_of(*value) + ", expected a string");
  return std::string(value->get_string());
}

Result<Place> mapping_at(const Place& place, std::string_view key) {
  const json::value* const value = place.find(key);
  if (value == nullptr) return Place{nullptr, place.at(key)};
  if (!value->is_object()) return place.wrong(key, std::string("found ") + kind_of(*value) + ", expected a mapping");
  return Place{&value->get_object(), place.at(key)};
}

// In a list of named mappings ("users") what stands under `inner` ("user") of that name.
Result<Place> named(const Place& root, const std::string& list, std::string_view inner, const std::string& name) {
  const json::value* const value = root.find(list);
  if (value != nullptr && !value->is_array()) return root.wrong(list, std::string("found ") + kind_of(*value) + ", expected a list");
  for (std::size_t i = 0; value != nullptr && i < value->get_array().size(); ++i) {
    const json::value& item = value->get_array()[i];
    const std::string path = list + "[" + std::to_string(i) + "]";
    if (!item.is_object()) return invalid(path + ": found " + kind_of(item) + ", expected a mapping");
    const Place entry{&item.get_object(), path};
    const std::string its_name = TRY(text_at(entry, "name"));
    if (its_name == name) return mapping_at(entry, inner);
  }
  return root.wrong(list, "found nothing with the name '" + name + "'");
}

std::string in_directory(const std::string& directory, const std::string& file) {
  return file.empty() || file.starts_with('/') || directory.empty() ? file : directory + "/" + file;
}

// "…" or, in base64 and winning over it, "…-data".
Result<Pem> pem_at(const Place& place, const std::string& key, const std::string& directory) {
  const std::string data_key = key + "-data";
  const std::string data = TRY(text_at(place, data_key));
  if (!data.empty()) {
    auto text = decode_base64(data);
    if (!text || text->find("-----BEGIN ") == std::string::npos) return place.wrong(data_key, "expected PEM in base64");
    return Pem{.text = std::move(*text)};
  }
  const std::string file = TRY(text_at(place, key));
  return Pem{.file = in_directory(directory, file)};
}

Result<void> refuse(const Place& place, std::string_view key, const std::string& instead) {
  const json::value* const value = place.find(key);
  if (value == nullptr || (value->is_bool() && !value->get_bool())) return {};
  return place.wrong(key, "is not supported, expected " + instead);
}

Result<void> read_cluster(const Place& cluster, const std::string& directory, ConnectionConfig& config) {
  TRY(refuse(cluster, "insecure-skip-tls-verify", "certificate-authority: the certificate of the server is always verified"));
  TRY(refuse(cluster, "proxy-url", "a server that is reached without a proxy"));
  const std::string server = TRY(text_at(cluster, "server"));
  Result<ServerUrl> url = parse_server_url(server);
  if (!url) return std::move(url).error().context(cluster.at("server"));
  config.host = std::move(url->host);
  config.port = url->port;
  config.path_prefix = std::move(url->path_prefix);
  config.server_name = TRY(text_at(cluster, "tls-server-name"));
  config.ca = TRY(pem_at(cluster, "certificate-authority", directory));
  return {};
}

Result<void> read_user(const Place& user, const std::string& directory, ConnectionConfig& config) {
  const std::string instead = "token, tokenFile or client-certificate";
  for (const char* key : {"exec", "auth-provider", "username", "password"}) TRY(refuse(user, key, instead));
  for (const char* key : {"as", "as-uid", "as-groups", "as-user-extra"}) TRY(refuse(user, key, "credentials of our own"));
  config.certificate = TRY(pem_at(user, "client-certificate", directory));
  config.key = TRY(pem_at(user, "client-key", directory));
  config.token = TRY(text_at(user, "token"));
  const std::string token_file = TRY(text_at(user, "tokenFile"));
  config.token_file = in_directory(directory, token_file);
  const bool certificate = config.certificate != Pem(), key = config.key != Pem();
  if (certificate != key) return user.wrong(certificate ? "client-key" : "client-certificate", "found nothing, expected it beside the other");
  return {};
}

}  // namespace

Result<ConnectionConfig> parse_kubeconfig(std::string_view text, const std::string& directory, std::string_view context) {
  const std::string as_json = TRY(config::yaml_to_json(text, "kubeconfig"));
  boost::system::error_code error;
  const json::value value = json::parse(as_json, error, {}, {.max_depth = 64});
  if (error || !value.is_object()) return invalid("kubeconfig: expected a mapping with clusters, users and contexts");
  const Place root{&value.get_object(), ""};

  std::string name(context);
  if (name.empty()) name = TRY(text_at(root, "current-context"));
  if (name.empty()) return root.wrong("current-context", "found nothing, expected the name of a context");
  const Place chosen = TRY(named(root, "contexts", "context", name));
  const std::string cluster_name = TRY(text_at(chosen, "cluster")), user_name = TRY(text_at(chosen, "user"));

  ConnectionConfig config;
  config.name_space = TRY(text_at(chosen, "namespace"));
  const Place cluster = TRY(named(root, "clusters", "cluster", cluster_name));
  TRY(read_cluster(cluster, directory, config));
  if (user_name.empty()) return config;
  const Place user = TRY(named(root, "users", "user", user_name));
  TRY(read_user(user, directory, config));
  return config;
}

}  // namespace koord::kube
