// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/agent_question.hpp"

#include "core/base/parse.hpp"
#include "core/base/utf8.hpp"
#include "core/criproxy/cri.pb.h"
#include "core/json/field.hpp"
#include "core/json/reader.hpp"
#include "core/json/writer.hpp"

namespace koord::criproxy {
namespace {

constexpr std::size_t kMaxAnswerBytes = 16u << 20, kMaxTitleBytes = 512;

struct NumberField {
  std::string_view name;
  std::optional<std::int64_t> ResourceChanges::*change;
  std::int64_t (wire::Resources::*value)() const;
  bool (wire::Resources::*has)() const;
};

constexpr NumberField kNumbers[] = {
    {"linux.cpu.period", &ResourceChanges::cpu_period, &wire::Resources::cpu_period, &wire::Resources::has_cpu_period},
    {"linux.cpu.quota", &ResourceChanges::cpu_quota, &wire::Resources::cpu_quota, &wire::Resources::has_cpu_quota},
    {"linux.cpu.shares", &ResourceChanges::cpu_shares, &wire::Resources::cpu_shares, &wire::Resources::has_cpu_shares},
    {"linux.memory.limit", &ResourceChanges::memory_limit, &wire::Resources::memory_limit,
     &wire::Resources::has_memory_limit},
    {"linux.memory.swap", &ResourceChanges::memory_swap_limit, &wire::Resources::memory_swap_limit,
     &wire::Resources::has_memory_swap_limit},
    {"linux.oom_score_adj", &ResourceChanges::oom_score_adj, &wire::Resources::oom_score_adj,
     &wire::Resources::has_oom_score_adj},
};

template <class Texts>
void write_texts(JsonWriter& json, std::string_view name, const Texts& texts) {
  json.key(name).begin_object();
  for (const auto& [key, value] : texts) json.member(key, std::string_view(value));
  json.end_object();
}

void write_pod(JsonWriter& json, const wire::Checkpoint& about) {
  const wire::PodMetadata& metadata = about.pod().metadata();
  json.key("pod").begin_object();
  json.member("name", std::string_view(metadata.name()));
  json.member("namespace", std::string_view(metadata.namespace_()));
  json.member("uid", std::string_view(metadata.uid()));
  json.member("sandboxId", std::string_view(about.sandbox_id()));
  json.member("runtimeHandler", std::string_view(about.runtime_handler()));
  json.member("cgroupParent", std::string_view(about.pod().linux_part().cgroup_parent()));
  write_texts(json, "labels", about.pod().labels());
  write_texts(json, "annotations", about.pod().annotations());
  json.end_object();
}

void write_resources(JsonWriter& json, const wire::Resources& resources) {
  json.key("resources").begin_object();
  for (const NumberField& field : kNumbers)
    if ((resources.*field.has)()) json.member(field.name, std::to_string((resources.*field.value)()));
  if (resources.has_cpuset_cpus()) json.member("linux.cpuset.cpus", std::string_view(resources.cpuset_cpus()));
  if (resources.has_cpuset_mems()) json.member("linux.cpuset.mems", std::string_view(resources.cpuset_mems()));
  json.end_object();
}

void write_container(JsonWriter& json, const wire::Checkpoint& about) {
  json.key("container").begin_object();
  json.member("name", std::string_view(about.container().name()));
  json.member("id", std::string_view(about.container().id()));
  write_texts(json, "annotations", about.annotations());
  json.key("env").begin_array();
  for (const wire::KeyValue& env : about.envs())
    json.begin_object().member("name", std::string_view(env.key())).end_object();
  json.end_array();
  write_resources(json, about.resources());
  json.end_object();
}

bool set_resource(std::string_view name, const std::string& value, ResourceChanges& resources, Result<void>& failed) {
  if (name == "linux.cpuset.cpus") return resources.cpuset_cpus = value, true;
  if (name == "linux.cpuset.mems") return resources.cpuset_mems = value, true;
  for (const NumberField& field : kNumbers) {
    if (field.name != name) continue;
    Result<std::int64_t> number = parse_int(value);
    if (number)
      resources.*field.change = *number;
    else
      failed = std::move(number).error().context(name);
    return true;
  }
  return false;
}

Result<void> set_mount(std::string_view path, std::string value, Changes& changes) {
  constexpr std::string_view kReadOnly = " ro";
  const bool readonly = value.ends_with(kReadOnly);
  if (readonly) value.resize(value.size() - kReadOnly.size());
  if (!path.starts_with('/') || !value.starts_with('/')) return invalid("mount: expected two absolute paths");
  changes.mounts[std::string(path)] = {value, readonly};
  return {};
}

Result<void> set_field(std::string_view name, const std::string& value, Changes& changes) {
  const auto rest = [&](std::string_view prefix) { return std::string(name.substr(prefix.size())); };
  Result<void> failed;
  if (set_resource(name, value, changes.resources, failed)) return failed;
  if (name.starts_with("env:")) {
    if (value.find('\0') != std::string::npos ||
        rest("env:").find_first_of(std::string_view("=\0", 2)) != std::string::npos)
      return invalid("env: NUL, or '=' in a name");
    changes.envs.emplace_back(rest("env:"), value);
  } else if (name.starts_with("annotation:")) {
    changes.annotations[rest("annotation:")] = value;
  } else if (name.starts_with("mount:")) {
    return set_mount(rest("mount:"), value, changes);
  } else if (name.starts_with("device:")) {
    if (!rest("device:").starts_with("/dev/")) return invalid("device: expected a path in /dev");
    changes.devices[rest("device:")] = "rwm";
  }
  return {};
}

}  // namespace

std::string agent_request(std::string_view stage, const wire::Checkpoint& about) {
  JsonWriter json;
  json.begin_object().member("stage", stage);
  write_pod(json, about);
  if (about.has_container()) write_container(json, about);
  json.end_object();
  return json.text();
}

std::string title_of(const wire::Checkpoint& about) {
  const wire::PodMetadata& pod = about.pod().metadata();
  std::string title = about.has_container() ? "container " + about.container().name() + " of " : "pod ";
  title += pod.namespace_() + "/" + pod.name();
  cut_utf8(title, kMaxTitleBytes);
  replace_control_characters(title);
  return title;
}

Result<HookAnswer> read_agent_answer(std::string_view json) {
  const boost::json::value root = TRY(read_json(json, kMaxAnswerBytes));
  TRY(JsonField(root).check_mapping());
  HookAnswer answer;
  answer.rejection = TRY(JsonField(root)["rejection"].text());
  const auto fields = TRY(JsonField(root)["fields"].members());
  for (const auto& [name, field] : fields) {
    const std::string value = TRY(field.text());
    TRY(set_field(name, value, answer.changes));
  }
  return answer;
}

}  // namespace koord::criproxy
