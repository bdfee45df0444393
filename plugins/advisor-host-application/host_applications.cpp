// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-host-application/host_applications.hpp"

#include <boost/json.hpp>
#include <set>

#include "core/base/parse.hpp"
#include "core/json/reader.hpp"
#include "core/metric/labels.hpp"

namespace koord::host_application {
namespace {

namespace json = boost::json;
using cgroup::KubeQos;
using cgroup::KubeRoot;

// Returns a text that is used as a label value or a path; "" if missing or null.
Result<std::string> text(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (!value || value->is_null()) return std::string();
  const json::string* found = value->if_string();
  if (!found) return invalid("'" + std::string(key) + "' is not a text");
  if (found->size() > metric::kMaxLabelValueBytes) return invalid("'" + std::string(key) + "' is too long");
  if (found->find('\0') != json::string::npos) return invalid("'" + std::string(key) + "' holds a NUL");
  return std::string(std::string_view(*found));
}

std::string default_parent(std::string_view qos) {
  if (qos == "LSE" || qos == "LSR" || qos == "LS") return "host-latency-sensitive";
  return qos == "BE" ? "host-best-effort" : "";
}

// Returns "a/b" for "/a//b/".
std::string normalised(std::string_view path) {
  std::string clean;
  while (auto part = next_field(path, '/')) {
    if (part->empty()) continue;
    if (!clean.empty()) clean += '/';
    clean += *part;
  }
  return clean;
}

Result<std::vector<std::string>> base_dirs(const std::string& base, const std::vector<KubeRoot>& kube_roots) {
  if (base.empty() || base == "CgroupRoot") return std::vector<std::string>{""};
  const auto of_class = [&](KubeQos qos) {
    std::vector<std::string> dirs;
    for (const KubeRoot& root : kube_roots) dirs.push_back(cgroup::qos_dir(root, qos));
    return dirs;
  };
  if (base == "Kubepods") return of_class(KubeQos::guaranteed);
  if (base == "KubepodsBurstable") return of_class(KubeQos::burstable);
  if (base == "KubepodsBesteffort") return of_class(KubeQos::best_effort);
  return invalid("base '" + base + "' is none of CgroupRoot, Kubepods, KubepodsBurstable, KubepodsBesteffort");
}

Result<std::vector<std::string>> below(std::vector<std::string> bases, std::string_view path) {
  for (std::string& dir : bases) {
    dir = normalised(dir + "/" + std::string(path));
    if (dir.empty()) return invalid("its cgroup would be the root of the tree");
    if (!cgroup::is_cgroup(dir)) return invalid("'" + dir + "' is not a cgroup below the root of the tree");
  }
  return bases;
}

Result<std::vector<std::string>> cgroup_dirs(const json::object& entry, const Application& application,
                                             const std::vector<KubeRoot>& kube_roots) {
  const json::value* path = entry.if_contains("cgroupPath");
  if (!path || path->is_null()) return below({""}, default_parent(application.qos) + "/" + application.name);
  const json::object* object = path->if_object();
  if (!object) return invalid("'cgroupPath' is not an object");
  const std::string base = TRY(text(*object, "base"));
  const std::string parent = TRY(text(*object, "parentDir"));
  const std::string relative = TRY(text(*object, "relativePath"));
  return below(TRY(base_dirs(base, kube_roots)), parent + "/" + relative);
}

Result<Application> application_of(const json::value& value, const std::vector<KubeRoot>& kube_roots) {
  const json::object* entry = value.if_object();
  if (!entry) return invalid("it is not an object");
  Application application;
  application.name = TRY(text(*entry, "name"));
  if (application.name.empty()) return invalid("it has no name");
  application.priority_class = TRY(text(*entry, "priority"));
  application.qos = TRY(text(*entry, "qos"));
  application.cgroup_dirs = TRY(cgroup_dirs(*entry, application, kube_roots));
  return application;
}

constexpr std::size_t kShownBytes = 64;

std::string title_of(const json::value& value, std::size_t index) {
  std::string title = "hostApplications[" + std::to_string(index) + "]";
  const json::object* entry = value.if_object();
  const json::value* name = entry ? entry->if_contains("name") : nullptr;
  if (name && name->is_string())
    title += " '" + std::string(std::string_view(name->get_string()).substr(0, kShownBytes)) + "'";
  return title;
}

Result<json::value> parse(std::string_view spec) {
  Result<json::value> document = read_json(spec);
  if (!document) return std::move(document).error().context("the NodeSLO's spec");
  return document;
}

}  // namespace

Result<Applications> parse_host_applications(std::string_view spec, const std::vector<KubeRoot>& kube_roots) {
  Applications found;
  if (spec.empty()) return found;
  const json::value document = TRY(parse(spec));
  const json::object* object = document.if_object();
  if (!object) return invalid("the NodeSLO's spec is not an object");
  const json::value* list = object->if_contains("hostApplications");
  if (!list || list->is_null()) return found;
  if (!list->is_array()) return invalid("hostApplications is not a list");
  const json::array& entries = list->get_array();
  std::set<std::string> names;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Result<Application> application = application_of(entries[i], kube_roots);
    if (!application) {
      found.refused.push_back(title_of(entries[i], i) + ": " + application.error().message());
      continue;
    }
    if (names.insert(application->name).second)
      found.applications.push_back(*std::move(application));
    else
      found.refused.push_back(title_of(entries[i], i) + ": another of this name comes before it");
  }
  return found;
}

}  // namespace koord::host_application
