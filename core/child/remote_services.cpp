// SPDX-License-Identifier: Apache-2.0
// The service tables of a child. Each function checks and packs its arguments, as the host's own tables do, and sends a
// request to the host.
#include <algorithm>

#include "core/child/record_wire.hpp"
#include "core/child/remote_call.hpp"
#include "core/service/record_arguments.hpp"

namespace koord::child {
namespace {

using service::buffer_argument;
using service::cgroup_argument;
using service::check_array;
using service::name_argument;
using service::pointer_argument;
using service::take_record;
using service::text_argument;

// ---- koord.state/1

const ImageRoot& root(const koord_snapshot* snapshot) { return *reinterpret_cast<const ImageRoot*>(snapshot); }

koord_status acquire(const koord_host* host, const koord_snapshot** snapshot) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(pointer_argument(snapshot, "snapshot"));
    return remote.acquire(snapshot);
  });
}

void release(const koord_host* host, const koord_snapshot* snapshot) {
  serve(host, [&](HostProxy& remote) {
    if (snapshot && !remote.release(snapshot))
      remote.log(KOORD_LOG_ERROR, "released a snapshot that it does not hold, ignoring");
    return KOORD_OK;
  });
}

std::uint64_t version(const koord_snapshot* snapshot, std::uint32_t part) {
  auto at = std::find(std::begin(kParts), std::end(kParts), part);
  return snapshot && at != std::end(kParts) ? root(snapshot).versions[at - std::begin(kParts)] : 0;
}

const koord_node* node(const koord_snapshot* snapshot) { return snapshot ? root(snapshot).node : nullptr; }

template <class Record>
const Record* list(const Record* records, std::uint32_t count, std::uint32_t* n, std::uint32_t* stride) {
  if (n) *n = count;
  if (stride) *stride = sizeof(Record);
  return count > 0 ? records : nullptr;
}

const koord_pod* pods(const koord_snapshot* snapshot, std::uint32_t* n, std::uint32_t* stride) {
  return snapshot ? list(root(snapshot).pods, root(snapshot).n_pods, n, stride)
                  : list<koord_pod>(nullptr, 0, n, stride);
}

const koord_container* containers(const koord_snapshot* snapshot, std::uint32_t* n, std::uint32_t* stride) {
  return snapshot ? list(root(snapshot).containers, root(snapshot).n_containers, n, stride)
                  : list<koord_container>(nullptr, 0, n, stride);
}

const koord_topology* topology(const koord_snapshot* snapshot) { return snapshot ? root(snapshot).topology : nullptr; }

koord_str node_slo(const koord_snapshot* snapshot) { return snapshot ? root(snapshot).node_slo : koord_str{}; }

koord_status subscribe(const koord_host* host, std::uint32_t parts) {
  return serve(host,
               [&](HostProxy& remote) { return remote.returned(remote.ask(request(Service::subscribe).add(parts))); });
}

koord_status processes(const koord_host* host, std::uint64_t subject, std::int32_t* pids, std::uint32_t cap,
                       std::uint32_t* need) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(pointer_argument(need, "need"));
    TRY(check_array(pids, cap, sizeof *pids, sizeof *pids, "pids"));
    Answer answer = remote.ask(request(Service::processes).add(subject).add(cap));
    take_need(answer, need);
    for (std::uint32_t i = 0; answer.ok() && i < std::min(*need, cap); ++i)
      pids[i] = answer.rest.number<std::int32_t>();
    return remote.returned(answer);
  });
}

// ---- koord.kv/1, koord.config/1, koord.clock/1, koord.fs/1

koord_status kv_get(const koord_host* host, koord_str key, void* buf, std::uint64_t cap, std::uint64_t* need) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(buffer_argument(buf, cap, need));
    Packer question = request(Service::kv_get);
    return take_bytes(remote, question.add(TRY(name_argument(key, "key"))), buf, cap, need);
  });
}

koord_status kv_set(const koord_host* host, koord_str key, const void* buf, std::uint64_t n, std::uint64_t ttl_ns) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    const std::string_view name = TRY(name_argument(key, "key"));
    TRY(service::kv_value_argument(buf, n));
    Packer question = request(Service::kv_set);
    question.add(name).add(std::string_view(static_cast<const char*>(buf), n)).add(ttl_ns);
    return remote.returned(remote.ask(question));
  });
}

koord_status kv_remove(const koord_host* host, koord_str key) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    const std::string_view name = TRY(name_argument(key, "key"));
    return remote.returned(remote.ask(request(Service::kv_remove).add(name)));
  });
}

koord_status config_json(const koord_host* host, char* buf, std::uint64_t cap, std::uint64_t* need) {
  return serve(host, [&](HostProxy& remote) {
    Packer question = request(Service::config_json);
    return take_bytes(remote, question, buf, cap, need);
  });
}

template <class Value>
koord_status config_value(const koord_host* host, Service service, koord_str pointer, Value* value) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(pointer_argument(value, "value"));
    return take(remote, request(service).add(TRY(text_argument(pointer, "pointer"))), value);
  });
}

koord_status config_i64(const koord_host* host, koord_str pointer, std::int64_t* value) {
  return config_value(host, Service::config_i64, pointer, value);
}
koord_status config_f64(const koord_host* host, koord_str pointer, double* value) {
  return config_value(host, Service::config_f64, pointer, value);
}
koord_status config_boolean(const koord_host* host, koord_str pointer, std::int32_t* value) {
  return config_value(host, Service::config_boolean, pointer, value);
}
koord_status config_string(const koord_host* host, koord_str pointer, char* buf, std::uint64_t cap,
                           std::uint64_t* need) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(buffer_argument(buf, cap, need));
    Packer question = request(Service::config_string);
    return take_bytes(remote, question.add(TRY(text_argument(pointer, "pointer"))), buf, cap, need);
  });
}

std::uint64_t clock(const koord_host* host, Service service) {
  std::uint64_t now = 0;
  serve(host, [&](HostProxy& remote) { return take(remote, request(service), &now); });
  return now;
}
std::uint64_t now_ns(const koord_host* host) { return clock(host, Service::clock_now); }
std::uint64_t wall_ns(const koord_host* host) { return clock(host, Service::clock_wall); }

koord_status fs_path(const koord_host* host, std::uint32_t root, char* buf, std::uint64_t cap, std::uint64_t* need) {
  return serve(host, [&](HostProxy& remote) {
    Packer question = request(Service::fs_path);
    return take_bytes(remote, question.add(root), buf, cap, need);
  });
}

koord_status fs_read(const koord_host* host, std::uint32_t root, koord_str relative, char* buf, std::uint64_t cap,
                     std::uint64_t* need) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(buffer_argument(buf, cap, need));
    TRY(service::root_argument(root));
    Packer question = request(Service::fs_read);
    return take_bytes(remote, question.add(root).add(TRY(name_argument(relative, "relative"))), buf, cap, need);
  });
}

// ---- koord.cgroup/1, koord.audit/1, koord.capabilities/1, koord.knobs/1, koord.evict/1

koord_status cgroup_open(const koord_host* host, koord_str dir, koord_str file, const koord_str* keys, std::uint32_t n,
                         std::uint64_t* handle) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(pointer_argument(handle, "handle"));
    const std::string_view cgroup = TRY(cgroup_argument(dir));
    const std::string_view name = TRY(name_argument(file, "file"));
    const std::vector<std::string_view> names = TRY(service::cgroup_keys_argument(keys, n));
    Packer question = request(Service::cgroup_open);
    question.add(cgroup).add(name).add(n);
    for (const std::string_view key : names) question.add(key);
    return take(remote, question, handle);
  });
}

koord_status cgroup_read(const koord_host* host, std::uint64_t handle, std::int64_t* values, std::uint32_t n,
                         std::uint64_t* read_ns) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(pointer_argument(values, "values"));
    Answer answer = remote.ask(request(Service::cgroup_read).add(handle).add(n));
    auto at = answer.rest.number<std::uint64_t>();
    if (read_ns && answer.ok()) *read_ns = at;
    for (std::uint32_t i = 0; answer.ok() && i < n; ++i) values[i] = answer.rest.number<std::int64_t>();
    return remote.returned(answer);
  });
}

void cgroup_close(const koord_host* host, std::uint64_t handle) {
  serve(host, [&](HostProxy& remote) { return remote.send(request(Service::cgroup_close).add(handle)), KOORD_OK; });
}

koord_status audit_record(const koord_host* host, std::uint64_t subject, koord_str what, koord_str why) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    const std::string_view name = TRY(name_argument(what, "what"));
    const std::string_view reason = TRY(text_argument(why, "why"));
    return remote.returned(remote.ask(request(Service::audit_record).add(subject).add(name).add(reason)));
  });
}

koord_status capability_get(const koord_host* host, koord_str name, std::uint32_t* state) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(pointer_argument(state, "state"));
    return take(remote, request(Service::capability_get).add(TRY(name_argument(name, "name"))), state);
  });
}

koord_status capability_report(const koord_host* host, koord_str name, std::uint32_t state, koord_str detail) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    const std::string_view reported = TRY(name_argument(name, "name"));
    const std::string_view text = TRY(text_argument(detail, "detail"));
    return remote.returned(remote.ask(request(Service::capability_report).add(reported).add(state).add(text)));
  });
}

void add_intent(Packer& plan, const knob::Intent& intent, std::uint64_t ttl_ns) {
  koord_intent record{.struct_size = sizeof record};
  record.level = static_cast<std::uint32_t>(intent.level);
  record.knob = service::to_abi(intent.knob->name);
  record.cgroup_dir = service::to_abi(intent.cgroup_dir);
  record.value = service::to_abi(intent.value);
  record.reason = service::to_abi(intent.reason);
  record.priority = intent.priority;
  record.flags = intent.flags;
  record.ttl_ns = ttl_ns;
  record.role = static_cast<std::uint32_t>(intent.role);
  add_members(plan, record);
  add_labels(plan, intent.inputs);
}

// Reports a refused plan. The host logs the refusal, and processes the intents before the refused one.
koord_status refuse_intent(HostProxy& remote, const Packer& plan, std::uint32_t n, const service::Refusal& refusal) {
  Packer question = request(Service::refuse_plan);
  question.add(n)
      .append(plan)
      .add(refusal.status)
      .add(std::string_view(refusal.line))
      .add(std::string_view(refusal.text));
  return remote.returned(remote.ask(question));
}

koord_status refuse_plan_size(HostProxy& remote, std::uint64_t n, std::uint64_t bytes) {
  return remote.returned(remote.ask(request(Service::refuse_plan_size).add(n).add(bytes)));
}

koord_status propose(const koord_host* host, const koord_intent* intents, std::uint32_t n, std::uint32_t stride) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    const auto array = TRY(service::records_argument(intents, n, stride, "intents"));
    if (!service::plan_argument(n, 0)) return refuse_plan_size(remote, n, 0);
    Packer plan;
    for (std::uint32_t i = 0; i < n; ++i) {
      const Result<knob::Intent> intent = service::intent_argument(array, i);
      if (!intent) return refuse_intent(remote, plan, i, service::refusal_of_intent(array, i, intent.error()));
      add_intent(plan, *intent, TRY(take_record<koord_intent>(array.at(i), "intent", stride)).ttl_ns);
      if (plan.bytes().size() > Channel::kMaxFromChild) return refuse_plan_size(remote, n, plan.bytes().size());
    }
    return remote.returned(remote.ask(request(Service::propose).add(n).append(plan)));
  });
}

koord_status current(const koord_host* host, koord_str knob, koord_str dir, char* buf, std::uint64_t cap,
                     std::uint64_t* need) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(buffer_argument(buf, cap, need));
    const std::string_view name = TRY(name_argument(knob, "knob")), cgroup = TRY(cgroup_argument(dir));
    Packer question = request(Service::current);
    return take_bytes(remote, question.add(name).add(cgroup), buf, cap, need);
  });
}

koord_status base(const koord_host* host, koord_str knob, koord_str dir, char* buf, std::uint64_t cap,
                  std::uint64_t* need) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(buffer_argument(buf, cap, need));
    const std::string_view name = TRY(name_argument(knob, "knob")), cgroup = TRY(cgroup_argument(dir));
    Packer question = request(Service::base);
    return take_bytes(remote, question.add(name).add(cgroup), buf, cap, need);
  });
}

koord_status evict_request(const koord_host* host, const koord_eviction* eviction) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    const Result<evict::Request> taken = service::eviction_argument(eviction);
    if (!taken) return refuse_record(remote, Service::refuse_eviction, service::refusal_of_eviction(taken.error()));
    Packer question = request(Service::evict_request);
    koord_eviction record{.struct_size = sizeof record};
    record.resource = service::to_abi(taken->resource);
    record.reason = service::to_abi(taken->reason);
    record.amount = taken->amount;
    add_members(question, record);
    question.add(static_cast<std::uint32_t>(taken->pods.size()));
    for (const std::uint64_t pod : taken->pods) question.add(pod);
    add_labels(question, taken->inputs);
    return remote.returned(remote.ask(question));
  });
}

const koord_svc_state state_table = {sizeof state_table, 0,        acquire,  release,   version,  node, pods,
                                     containers,         topology, node_slo, subscribe, processes};
const koord_svc_kv kv = {sizeof kv, 0, kv_get, kv_set, kv_remove};
const koord_svc_config config = {sizeof config, 0, config_json, config_i64, config_f64, config_boolean, config_string};
const koord_svc_clock clock_table = {sizeof clock_table, 0, now_ns, wall_ns};
const koord_svc_fs fs = {sizeof fs, 0, fs_path, fs_read};
const koord_svc_cgroup cgroup = {sizeof cgroup, 0, cgroup_open, cgroup_read, cgroup_close};
const koord_svc_audit audit = {sizeof audit, 0, audit_record};
const koord_svc_capabilities capabilities = {sizeof capabilities, 0, capability_get, capability_report};
const koord_svc_knobs knobs = {sizeof knobs, 0, propose, current, base};
const koord_svc_evict evict = {sizeof evict, 0, evict_request};

constexpr struct {
  std::string_view id;
  const void* table;
} offered[] = {
    {"koord.audit/1", &audit},
    {"koord.capabilities/1", &capabilities},
    {"koord.cgroup/1", &cgroup},
    {"koord.clock/1", &clock_table},
    {"koord.config/1", &config},
    {"koord.evict/1", &evict},
    {"koord.fs/1", &fs},
    {"koord.knobs/1", &knobs},
    {"koord.kv/1", &kv},
    {"koord.metrics/1", &remote_metrics},
    {"koord.state/1", &state_table},
    {"koord.verdict/1", &remote_verdict},
};

}  // namespace

const void* find_remote_service(std::string_view id) {
  for (const auto& service : offered)
    if (service.id == id) return service.table;
  return nullptr;
}

}  // namespace koord::child
