// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/hooked_call.hpp"

#include "core/criproxy/cri.pb.h"
#include "core/criproxy/merge.hpp"
#include "core/criproxy/proxy_log.hpp"

namespace koord::criproxy {
namespace {

using Kind = Checkpoints::Kind;
using Request = Result<std::optional<std::string>>;

constexpr int kMaxWaiting = 256;

// Returns a copy with only the fields that hooks get.
wire::PodConfig kept_part(const wire::PodConfig& pod) {
  wire::PodConfig kept;
  *kept.mutable_metadata() = pod.metadata();
  *kept.mutable_labels() = pod.labels();
  *kept.mutable_annotations() = pod.annotations();
  wire::PodLinux& part = *kept.mutable_linux_part();
  part.set_cgroup_parent(pod.linux_part().cgroup_parent());
  if (pod.linux_part().has_overhead()) *part.mutable_overhead() = pod.linux_part().overhead();
  if (pod.linux_part().has_resources()) *part.mutable_resources() = pod.linux_part().resources();
  return kept;
}

// The state of one parsed call. Tasks on the pool share it; some of them outlive the call.
struct CallRecord {
  HookParts& parts;
  Method method;
  std::string id;                              // the container or sandbox in the request
  std::optional<wire::Checkpoint> about = {};  // nullopt: hooks are not asked, and no checkpoint is kept
  bool skips_hooks = false;

  CallRecord(HookParts& all, Method of) : parts(all), method(of) {}

  Request prepare(const std::string& request);
  void keep(const std::string& response);
  void finish(bool succeeded);

 private:
  Request run_pod(const std::string& bytes);
  Request create(const std::string& bytes);
  Request update(const std::string& bytes);
  Request by_id(const std::string& bytes);
  Request unreadable();
  // Returns all changes, the changes of hook servers first. Fails if a hook refuses the call.
  Result<std::vector<Changes>> ask(std::string_view stage);
  void remove();
};

Request CallRecord::unreadable() {
  parts.counters.passed_unhooked(Unhooked::unreadable);
  about.reset();
  return std::optional<std::string>();
}

Result<std::vector<Changes>> CallRecord::ask(std::string_view stage) {
  std::vector<Changes> changes;
  const auto& labels = about->pod().labels();
  const auto skip = labels.find(std::string(kSkipLabel));
  skips_hooks = skip != labels.end() && skip->second == "true";
  if (skips_hooks) {
    parts.counters.passed_unhooked(Unhooked::skipped);
    return changes;
  }
  std::vector<HookAnswer> answers = parts.servers.ask(stage, *about);
  answers.push_back(parts.agent.ask(stage, *about));
  for (HookAnswer& answer : answers) {
    if (!answer.rejection.empty()) return invalid(std::move(answer.rejection));
    if (!answer.changes.empty()) changes.push_back(std::move(answer.changes));
  }
  return changes;
}

Request CallRecord::prepare(const std::string& request) {
  switch (method) {
    case Method::run_pod:
      return run_pod(request);
    case Method::create:
      return create(request);
    case Method::update:
      return update(request);
    default:
      return by_id(request);
  }
}

Request CallRecord::run_pod(const std::string& bytes) {
  wire::RunPodSandboxRequest request;
  if (!request.ParseFromString(bytes) || !request.has_config()) return unreadable();
  about.emplace();
  *about->mutable_pod() = kept_part(request.config());
  about->set_runtime_handler(request.runtime_handler());
  const std::vector<Changes> changes = TRY(ask(stage_before(method)));
  for (const Changes& change : changes) {
    merge(change, *request.mutable_config());
    merge(change, *about->mutable_pod());
  }
  if (changes.empty()) return std::optional<std::string>();
  return std::optional(request.SerializeAsString());
}

Request CallRecord::create(const std::string& bytes) {
  wire::CreateContainerRequest request;
  if (!request.ParseFromString(bytes) || !request.has_config()) return unreadable();
  about = parts.checkpoints.find(Kind::pod, request.pod_sandbox_id());
  const std::string parent = about ? about->pod().linux_part().cgroup_parent() : "";
  if (!about) *about.emplace().mutable_pod() = kept_part(request.sandbox_config());
  about->set_sandbox_id(request.pod_sandbox_id());
  wire::ContainerConfig& config = *request.mutable_config();
  *about->mutable_container() = config.metadata();
  *about->mutable_annotations() = config.annotations();
  *about->mutable_envs() = config.envs();
  *about->mutable_resources() = config.linux_part().resources();
  const std::vector<Changes> changes = TRY(ask(stage_before(method)));
  for (const Changes& change : changes) merge(change, config);
  // The kubelet sends the pod's original cgroup parent here. A hook may have moved the pod below a different cgroup.
  const bool moved = !parent.empty() && request.has_sandbox_config() &&
                     request.sandbox_config().linux_part().cgroup_parent() != parent;
  if (moved) request.mutable_sandbox_config()->mutable_linux_part()->set_cgroup_parent(parent);
  *about->mutable_annotations() = config.annotations();
  *about->mutable_envs() = config.envs();
  *about->mutable_resources() = config.linux_part().resources();
  if (changes.empty() && !moved) return std::optional<std::string>();
  return std::optional(request.SerializeAsString());
}

Request CallRecord::update(const std::string& bytes) {
  wire::UpdateContainerRequest request;
  if (!request.ParseFromString(bytes)) return unreadable();
  id = request.container_id();
  about = parts.checkpoints.find(Kind::container, id);
  if (!about) {
    parts.counters.passed_unhooked(Unhooked::unknown);
    return std::optional<std::string>();
  }
  merge_update(request.resources(), *about->mutable_resources());
  const std::vector<Changes> changes = TRY(ask(stage_before(method)));
  bool changed = false;
  for (const Changes& change : changes) {
    if (change.resources == ResourceChanges{}) continue;
    changed = true;
    merge(change.resources, *request.mutable_resources());
    merge(change.resources, *about->mutable_resources());
  }
  if (!changed) return std::optional<std::string>();
  return std::optional(request.SerializeAsString());
}

Request CallRecord::by_id(const std::string& bytes) {
  wire::Id request;
  if (!request.ParseFromString(bytes)) return unreadable();
  id = request.id();
  const bool of_pod = method == Method::stop_pod || method == Method::remove_pod;
  about = parts.checkpoints.find(of_pod ? Kind::pod : Kind::container, id);
  if (!about || stage_before(method).empty()) return std::optional<std::string>();
  TRY(ask(stage_before(method)));
  return std::optional<std::string>();
}

void CallRecord::keep(const std::string& response) {
  wire::Id answer;
  if (!about || !answer.ParseFromString(response)) return;
  const bool of_pod = method == Method::run_pod;
  if (of_pod)
    about->set_sandbox_id(answer.id());
  else
    about->mutable_container()->set_id(answer.id());
  if (Result<void> kept = parts.checkpoints.keep(of_pod ? Kind::pod : Kind::container, answer.id(), *about); !kept) {
    parts.counters.checkpoint_unwritten();
    log::warn(proxy_log, "cannot write the checkpoint of '{}': {}; a restarted proxy does not know it",
              answer.id().substr(0, 64), kept.error().message());
  }
}

void CallRecord::finish(bool succeeded) {
  if (succeeded && about && method == Method::update) {
    if (Result<void> kept = parts.checkpoints.keep(Kind::container, id, *about); !kept)
      parts.counters.checkpoint_unwritten();
  }
  if (about && !skips_hooks && !stage_after(method).empty()) parts.servers.ask(stage_after(method), *about);
  if (succeeded && !id.empty()) remove();
}

void CallRecord::remove() {
  if (method == Method::remove_pod) parts.checkpoints.remove(Kind::pod, id);
  if (method == Method::remove) parts.checkpoints.remove(Kind::container, id);
}

class HookedCall final : public CallHook {
 public:
  HookedCall(HookParts& parts, Method method) : record_(std::make_shared<CallRecord>(parts, method)) {}

  void before(std::string request, Next next) override {
    if (record_->parts.waiting >= kMaxWaiting) {
      record_->parts.counters.passed_unhooked(Unhooked::overload);
      return next(std::optional<std::string>());
    }
    post([record = record_, bytes = std::move(request), next = std::move(next)] { next(record->prepare(bytes)); });
  }

  void answered(std::string response, std::function<void()> next) override {
    if (!record_->about || (record_->method != Method::run_pod && record_->method != Method::create)) return next();
    post([record = record_, bytes = std::move(response), next = std::move(next)] {
      record->keep(bytes);
      next();
    });
  }

  void finished(bool succeeded) override {
    if (record_->id.empty()) return;
    post([record = record_, succeeded] { record->finish(succeeded); });
  }

 private:
  void post(event::Task task) {
    HookParts& parts = record_->parts;
    ++parts.waiting;
    parts.workers.post([&parts, task = std::move(task)] {
      task();
      --parts.waiting;
    });
  }

  const std::shared_ptr<CallRecord> record_;
};

}  // namespace

std::unique_ptr<CallHook> hook_of(const std::string& method, HookParts& parts) {
  const std::optional<Method> hooked = hooked_method(method);
  return hooked ? std::make_unique<HookedCall>(parts, *hooked) : nullptr;
}

}  // namespace koord::criproxy
