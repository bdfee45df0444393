// SPDX-License-Identifier: Apache-2.0
#include "test/support/test_cluster.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <boost/json.hpp>

#include "core/base/file.hpp"
#include "core/http/client.hpp"

namespace koord::test {
namespace {

namespace json = boost::json;

std::string make_folder() {
  std::string path = (std::filesystem::temp_directory_path() / "koord-test-cluster-XXXXXX").string();
  if (!::mkdtemp(path.data())) throw std::runtime_error("cannot make a folder like '" + path + "'");
  return path;
}

json::object object_of(std::string_view text) {
  json::value value = json::parse(json::string_view(text.data(), text.size()));
  return value.as_object();
}

std::string text_of(const json::object& object, const char* key) {
  const json::value* value = object.if_contains(key);
  return value && value->is_string() ? std::string(value->as_string()) : std::string();
}

ClusterRequest request_of(const json::object& entry) {
  ClusterRequest request;
  request.index = entry.at("index").to_number<std::int64_t>();
  request.seconds = entry.at("time").to_number<double>();
  request.server = text_of(entry, "server");
  request.verb = text_of(entry, "verb");
  request.path = text_of(entry, "path");
  request.kind = text_of(entry, "kind");
  request.namespace_ = text_of(entry, "namespace");
  request.name = text_of(entry, "name");
  request.subresource = text_of(entry, "subresource");
  request.user_agent = text_of(entry, "user_agent");
  request.token = entry.at("token").to_number<int>();
  request.status = entry.at("status").to_number<unsigned>();
  request.open = entry.at("open").as_bool();
  request.connection = entry.at("connection").to_number<std::int64_t>();
  return request;
}

std::vector<ClusterRequest> requests_of(std::string_view text) {
  std::vector<ClusterRequest> requests;
  json::value entries = json::parse(json::string_view(text.data(), text.size()));
  for (const json::value& entry : entries.as_array()) requests.push_back(request_of(entry.as_object()));
  return requests;
}

std::string place(std::string_view kind, std::string_view name, std::string_view namespace_) {
  return json::serialize(
      json::object{{"kind", std::string(kind)}, {"name", std::string(name)}, {"namespace", std::string(namespace_)}});
}

std::string wrapped(const char* key, std::string_view value) {
  return std::string("{\"") + key + "\":" + std::string(value) + "}";
}

}  // namespace

TestCluster::TestCluster() : TestCluster(Options()) {}

TestCluster::TestCluster(const Options& options) : options_(options), folder_(make_folder()) {
  const std::string log = folder_ + "/log";
  process_ = std::make_unique<ChildProcess>(
      std::vector<std::string>{KOORD_PYTHON, KOORD_TEST_CLUSTER, "--folder", folder_, "--node", options_.node_name,
                               "--minor", std::to_string(options_.minor)},
      log);
  const std::string ready = folder_ + "/ready.json";
  if (!eventually([&] { return !process_->running() || std::filesystem::exists(ready); }, std::chrono::seconds(120)) ||
      !process_->running())
    throw std::runtime_error("the test cluster did not start: " + read_file(log).value_or(""));
  json::object facts = object_of(read_file(ready).value_or("{}"));
  api_port_ = facts.at("api_port").to_number<std::uint16_t>();
  kubelet_port_ = facts.at("kubelet_port").to_number<std::uint16_t>();
}

TestCluster::~TestCluster() {
  process_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::map<std::string, std::string> TestCluster::environment() const {
  return {{"KUBERNETES_SERVICE_HOST", "127.0.0.1"},
          {"KUBERNETES_SERVICE_PORT", std::to_string(api_port_)},
          {"NODE_NAME", options_.node_name},
          {"POD_NAME", "koordetector-test"},
          {"POD_NAMESPACE", "koordinator-system"}};
}

std::string TestCluster::put(std::string_view object) { return command("put", wrapped("object", object)); }

std::string TestCluster::merge(std::string_view kind, std::string_view name, std::string_view patch) {
  json::object all = object_of(place(kind, name, {}));
  all["patch"] = object_of(patch);
  return command("merge", json::serialize(all));
}

std::optional<std::string> TestCluster::get(std::string_view kind, std::string_view name, std::string_view namespace_) {
  std::string found = command("get", place(kind, name, namespace_));
  if (found == "null") return std::nullopt;
  return found;
}

void TestCluster::remove(std::string_view kind, std::string_view name, std::string_view namespace_) {
  command("remove", place(kind, name, namespace_));
}

void TestCluster::set_pods(std::string_view list) { command("set_pods", wrapped("items", list)); }

void TestCluster::set_kubelet_config(std::string_view changes) {
  command("set_kubelet_config", wrapped("config", changes));
}

void TestCluster::fault(std::string_view name, std::string_view arguments) {
  json::object all = object_of(arguments);
  all["fault"] = std::string(name);
  command("fault", json::serialize(all));
}

void TestCluster::clear_faults() { command("clear_faults"); }

void TestCluster::clear_fault(std::string_view name) {
  command("clear_faults", json::serialize(json::object{{"fault", std::string(name)}}));
}

std::vector<ClusterRequest> TestCluster::requests(std::string_view wanted) {
  return requests_of(command("requests", wanted));
}

std::vector<ClusterRequest> TestCluster::wait_for_requests(std::string_view wanted, std::chrono::seconds timeout) {
  json::object all = object_of(wanted);
  all["seconds"] = timeout.count();
  return requests_of(command("wait_for_requests", json::serialize(all), timeout + std::chrono::seconds(30)));
}

std::string TestCluster::wait_for_object(std::string_view kind, std::string_view name, std::string_view condition,
                                         std::chrono::seconds timeout) {
  json::object all = object_of(condition);
  all["kind"] = std::string(kind);
  all["name"] = std::string(name);
  all["seconds"] = timeout.count();
  return command("wait_for_object", json::serialize(all), timeout + std::chrono::seconds(30));
}

std::string TestCluster::command(std::string_view name, std::string_view arguments, std::chrono::seconds timeout) {
  auto answer = http::post(folder_ + "/control.sock", "/" + std::string(name), arguments, timeout);
  if (!answer) throw std::runtime_error("test cluster, " + std::string(name) + ": " + answer.error().message());
  if (answer->status != 200) throw std::runtime_error("test cluster, " + std::string(name) + ": " + answer->body);
  return answer->body;
}

}  // namespace koord::test
