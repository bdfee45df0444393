// SPDX-License-Identifier: Apache-2.0
// The service tables of a child. Each function takes its arguments apart, as the host's own would, and asks.
#include <algorithm>
#include <cstring>
#include <span>

#include "core/child/remote_host.hpp"
#include "core/host/arguments.hpp"
#include "core/host/record.hpp"
#include "core/host/serve.hpp"

namespace koord::child {
namespace {

using host::array_argument;
using host::buffer_argument;
using host::check_array;
using host::labels_argument;
using host::pointer_argument;
using host::take_record;

template <class Body>
koord_status serve(const koord_host* host, Body&& body) noexcept {
  return host::serve<RemoteHost>(host, body);
}

Packer request(Service service) {
  Packer packer;
  packer.add(static_cast<std::uint32_t>(service));
  return packer;
}

void add_labels(Packer& out, const metric::Labels& labels) {
  out.add(static_cast<std::uint32_t>(labels.size()));
  for (const auto& [key, value] : labels) out.add(std::string_view(key)).add(std::string_view(value));
}

// An answer that is one value.
template <class Value>
koord_status take(RemoteHost& remote, const Packer& question, Value* value) {
  Answer answer = remote.ask(question);
  if (answer.ok()) *value = answer.rest.number<Value>();
  return remote.returned(answer);
}

// An answer of bytes into the caller's buffer.
Result<koord_status> take_bytes(RemoteHost& remote, Packer& question, void* buf, std::uint64_t cap, std::uint64_t* need) {
  TRY(buffer_argument(buf, cap, need));
  Answer answer = remote.ask(question.add(cap));
  *need = answer.rest.number<std::uint64_t>();
  std::string_view bytes = answer.rest.text();
  if (answer.ok() && bytes.size() <= cap && !bytes.empty()) std::memcpy(buf, bytes.data(), bytes.size());
  return remote.returned(answer);
}

// ---- koord.metrics/1

koord_status define(const koord_host* host, const koord_metric_desc* desc, std::uint32_t* metric) {
  return serve(host, [&](RemoteHost& remote) -> Result<koord_status> {
    TRY(pointer_argument(metric, "metric"));
    const auto record = TRY(take_record<koord_metric_desc>(desc, "desc"));
    const auto bounds = TRY(array_argument(record.bounds, record.n_bounds, sizeof(double), "bounds"));
    Packer question = request(Service::define);
    question.add(record.type).add(record.flags).add(record.name).add(record.unit).add(record.help).add(record.resolution);
    question.add(bounds.size());
    for (std::uint32_t i = 0; i < bounds.size(); ++i) question.add(bounds[i]);
    return take(remote, question, metric);
  });
}

koord_status series(const koord_host* host, std::uint32_t metric, std::uint64_t subject, const koord_label* labels,
                    std::uint32_t n, std::uint32_t stride, std::uint64_t* series) {
  return serve(host, [&](RemoteHost& remote) -> Result<koord_status> {
    TRY(pointer_argument(series, "series"));
    Packer question = request(Service::series);
    question.add(metric).add(subject);
    add_labels(question, TRY(labels_argument(labels, n, stride)));
    return take(remote, question, series);
  });
}

koord_status end_series(const koord_host* host, std::uint64_t series) {
  return serve(host, [&](RemoteHost& remote) { return remote.returned(remote.ask(request(Service::end_series).add(series))); });
}

koord_status append(const koord_host* host, std::uint64_t t_ns, const koord_point* points, std::uint32_t n,
                    std::uint32_t stride) {
  return serve(host, [&](RemoteHost& remote) -> Result<koord_status> {
    const auto array = TRY(array_argument(points, n, stride, "points"));
    std::vector<koord_point> batch(n);
    for (std::uint32_t i = 0; i < n; ++i) batch[i] = array[i];
    return remote.append(t_ns, std::move(batch));
  });
}

koord_status append_columns(const koord_host* host, std::uint64_t t_ns, const std::uint64_t* series, const double* values,
                            std::uint32_t n) {
  return serve(host, [&](RemoteHost& remote) -> Result<koord_status> {
    TRY(check_array(series, n, sizeof *series, sizeof *series, "series"));
    TRY(check_array(values, n, sizeof *values, sizeof *values, "values"));
    std::vector<koord_point> batch(n);
    for (std::uint32_t i = 0; i < n; ++i) batch[i] = {series[i], values[i]};
    return remote.append(t_ns, std::move(batch));
  });
}

koord_status append_histograms(const koord_host* host, std::uint64_t t_ns, const koord_histogram* histograms, std::uint32_t n,
                               std::uint32_t stride) {
  return serve(host, [&](RemoteHost& remote) -> Result<koord_status> {
    const auto array = TRY(array_argument(histograms, n, stride, "histograms"));
    Packer question = request(Service::append_histograms);
    question.add(t_ns).add(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      const koord_histogram histogram = array[i];
      TRY(check_array(histogram.cumulative, histogram.n, sizeof(std::uint64_t), sizeof(std::uint64_t), "cumulative"));
      question.add(histogram.series).add(histogram.sum).add(histogram.n);
      for (std::uint32_t k = 0; k < histogram.n; ++k) question.add(histogram.cumulative[k]);
    }
    return remote.returned(remote.ask(question));
  });
}

template <class Row>
koord_status query(const koord_host* host, Service service, const koord_query* query, Row* rows, std::uint32_t cap,
                   std::uint32_t stride, std::uint32_t* need) {
  return serve(host, [&](RemoteHost& remote) -> Result<koord_status> {
    TRY(pointer_argument(need, "need"));
    TRY(check_array(rows, cap, stride, sizeof(Row), "the caller's array"));
    const auto record = TRY(take_record<koord_query>(query, "query"));
    Packer question = request(service);
    question.add(record.aggregation).add(record.metric).add(record.from_ns).add(record.to_ns).add(record.subject);
    add_labels(question, TRY(labels_argument(record.labels, record.n_labels, record.label_stride)));
    Answer answer = remote.ask(question.add(cap));
    *need = answer.rest.number<std::uint32_t>();
    std::string_view found = answer.rest.text();
    auto* at = reinterpret_cast<unsigned char*>(rows);
    for (; found.size() >= sizeof(Row); found.remove_prefix(sizeof(Row)), at += stride) std::memcpy(at, found.data(), sizeof(Row));
    return remote.returned(answer);
  });
}

koord_status aggregate(const koord_host* host, const koord_query* q, koord_agg_row* rows, std::uint32_t cap,
                       std::uint32_t stride, std::uint32_t* need) {
  return query(host, Service::aggregate, q, rows, cap, stride, need);
}

koord_status samples(const koord_host* host, const koord_query* q, koord_sample* out, std::uint32_t cap,
                     std::uint32_t stride, std::uint32_t* need) {
  return query(host, Service::samples, q, out, cap, stride, need);
}

// ---- koord.state/1

const ImageRoot& root(const koord_snapshot* snapshot) { return *reinterpret_cast<const ImageRoot*>(snapshot); }

koord_status acquire(const koord_host* host, const koord_snapshot** snapshot) {
  return serve(host, [&](RemoteHost& remote) -> Result<koord_status> {
    TRY(pointer_argument(snapshot, "snapshot"));
    return remote.acquire(snapshot);
  });
}

void release(const koord_host* host, const koord_snapshot* snapshot) {
  serve(host, [&](RemoteHost& remote) { return remote.release(snapshot), KOORD_OK; });
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
  return records;
}

const koord_pod* pods(const koord_snapshot* snapshot, std::uint32_t* n, std::uint32_t* stride) {
  return snapshot ? list(root(snapshot).pods, root(snapshot).n_pods, n, stride) : list<koord_pod>(nullptr, 0, n, stride);
}

const koord_container* containers(const koord_snapshot* snapshot, std::uint32_t* n, std::uint32_t* stride) {
  return snapshot ? list(root(snapshot).containers, root(snapshot).n_containers, n, stride)
                  : list<koord_container>(nullptr, 0, n, stride);
}

const koord_topology* topology(const koord_snapshot* snapshot) { return snapshot ? root(snapshot).topology : nullptr; }

koord_str node_slo(const koord_snapshot* snapshot) { return snapshot ? root(snapshot).node_slo : koord_str{}; }

koord_status subscribe(const koord_host* host, std::uint32_t parts) {
  return serve(host, [&](RemoteHost& remote) { return remote.returned(remote.ask(request(Service::subscribe).add(parts))); });
}

koord_status processes(const koord_host* host, std::uint64_t subject, std::int32_t* pids, std::uint32_t cap, std::uint32_t* need) {
  return serve(host, [&](RemoteHost& remote) -> Result<koord_status> {
    TRY(pointer_argument(need, "need"));
    TRY(check_array(pids, cap, sizeof *pids, sizeof *pids, "pids"));
    Answer answer = remote.ask(request(Service::processes).add(subject).add(cap));
    *need = answer.rest.number<std::uint32_t>();
    for (std::uint32_t i = 0; answer.ok() && i < std::min(*need, cap); ++i) pids[i] = answer.rest.number<std::int32_t>();
    return remote.returned(answer);
  });
}

// ---- koord.kv/1, koord.config/1, koord.clock/1, koord.fs/1

koord_status kv_get(const koord_host* host, koord_str key, void* buf, std::uint64_t cap, std::uint64_t* need) {
  return serve(host, [&](RemoteHost& remote) {
    Packer question = request(Service::kv_get);
    return take_bytes(remote, question.add(key), buf, cap, need);
  });
}

koord_status kv_set(const koord_host* host, koord_str key, const void* buf, std::uint64_t n, std::uint64_t ttl_ns) {
  return serve(host, [&](RemoteHost& remote) -> Result<koord_status> {
    TRY(buffer_argument(buf, n, &n));
    Packer question = request(Service::kv_set);
    question.add(key).add(std::string_view(static_cast<const char*>(buf), n)).add(ttl_ns);
    return remote.returned(remote.ask(question));
  });
}

koord_status config_json(const koord_host* host, char* buf, std::uint64_t cap, std::uint64_t* need) {
  return serve(host, [&](RemoteHost& remote) {
    Packer question = request(Service::config_json);
    return take_bytes(remote, question, buf, cap, need);
  });
}

template <class Value>
koord_status config_value(const koord_host* host, Service service, koord_str pointer, Value* value) {
  return serve(host, [&](RemoteHost& remote) -> Result<koord_status> {
    TRY(pointer_argument(value, "value"));
    return take(remote, request(service).add(pointer), value);
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
koord_status config_string(const koord_host* host, koord_str pointer, char* buf, std::uint64_t cap, std::uint64_t* need) {
  return serve(host, [&](RemoteHost& remote) {
    Packer question = request(Service::config_string);
    return take_bytes(remote, question.add(pointer), buf, cap, need);
  });
}

std::uint64_t clock(const koord_host* host, Service service) {
  std::uint64_t now = 0;
  serve(host, [&](RemoteHost& remote) { return take(remote, request(service), &now); });
  return now;
}
std::uint64_t now_ns(const koord_host* host) { return clock(host, Service::clock_now); }
std::uint64_t wall_ns(const koord_host* host) { return clock(host, Service::clock_wall); }

koord_status fs_path(const koord_host* host, std::uint32_t root, char* buf, std::uint64_t cap, std::uint64_t* need) {
  return serve(host, [&](RemoteHost& remote) {
    Packer question = request(Service::fs_path);
    return take_bytes(remote, question.add(root), buf, cap, need);
  });
}

koord_status fs_read(const koord_host* host, std::uint32_t root, koord_str relative, char* buf, std::uint64_t cap,
                     std::uint64_t* need) {
  return serve(host, [&](RemoteHost& remote) {
    Packer question = request(Service::fs_read);
    return take_bytes(remote, question.add(root).add(relative), buf, cap, need);
  });
}

// ---- koord.cgroup/1, koord.audit/1, koord.capabilities/1, koord.knobs/1, koord.evict/1

koord_status cgroup_open(const koord_host* host, koord_str dir, koord_str file, const koord_str* keys, std::uint32_t n,
                         std::uint64_t* handle) {
  return serve(host, [&](RemoteHost& remote) -> Result<koord_status> {
    TRY(pointer_argument(handle, "handle"));
    const auto names = TRY(array_argument(keys, n, sizeof(koord_str), "keys"));
    Packer question = request(Service::cgroup_open);
    question.add(dir).add(file).add(n);
    for (std::uint32_t i = 0; i < n; ++i) question.add(names[i]);
    return take(remote, question, handle);
  });
}

koord_status cgroup_read(const koord_host* host, std::uint64_t handle, std::int64_t* values, std::uint32_t n,
                         std::uint64_t* read_ns) {
  return serve(host, [&](RemoteHost& remote) -> Result<koord_status> {
    TRY(check_array(values, n, sizeof *values, sizeof *values, "values"));
    Answer answer = remote.ask(request(Service::cgroup_read).add(handle).add(n));
    auto at = answer.rest.number<std::uint64_t>();
    if (read_ns) *read_ns = at;
    for (std::uint32_t i = 0; answer.ok() && i < n; ++i) values[i] = answer.rest.number<std::int64_t>();
    return remote.returned(answer);
  });
}

void cgroup_close(const koord_host* host, std::uint64_t handle) {
  serve(host, [&](RemoteHost& remote) { return remote.tell(request(Service::cgroup_close).add(handle)), KOORD_OK; });
}

koord_status audit_record(const koord_host* host, std::uint64_t subject, koord_str what, koord_str why) {
  return serve(host, [&](RemoteHost& remote) {
    return remote.returned(remote.ask(request(Service::audit_record).add(subject).add(what).add(why)));
  });
}

koord_status capability_get(const koord_host* host, koord_str name, std::uint32_t* state) {
  return serve(host, [&](RemoteHost& remote) -> Result<koord_status> {
    TRY(pointer_argument(state, "state"));
    return take(remote, request(Service::capability_get).add(name), state);
  });
}

koord_status capability_report(const koord_host* host, koord_str name, std::uint32_t state, koord_str detail) {
  return serve(host, [&](RemoteHost& remote) {
    return remote.returned(remote.ask(request(Service::capability_report).add(name).add(state).add(detail)));
  });
}

koord_status propose(const koord_host* host, const koord_intent* intents, std::uint32_t n, std::uint32_t stride) {
  return serve(host, [&](RemoteHost& remote) -> Result<koord_status> {
    const auto array = TRY(host::records_argument(intents, n, stride, "intents"));
    Packer question = request(Service::propose);
    question.add(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      const auto intent = TRY(take_record<koord_intent>(array.at(i), "intent", stride));
      question.add(intent.level).add(intent.knob).add(intent.cgroup_dir).add(intent.value).add(intent.reason);
      add_labels(question, TRY(labels_argument(intent.inputs, intent.n_inputs, intent.input_stride)));
      question.add(intent.priority).add(intent.flags).add(intent.ttl_ns).add(intent.role).add(intent.rsv);
    }
    return remote.returned(remote.ask(question));
  });
}

koord_status current(const koord_host* host, koord_str knob, koord_str dir, char* buf, std::uint64_t cap, std::uint64_t* need) {
  return serve(host, [&](RemoteHost& remote) {
    Packer question = request(Service::current);
    return take_bytes(remote, question.add(knob).add(dir), buf, cap, need);
  });
}

koord_status base(const koord_host* host, koord_str knob, koord_str dir, char* buf, std::uint64_t cap, std::uint64_t* need) {
  return serve(host, [&](RemoteHost& remote) {
    Packer question = request(Service::base);
    return take_bytes(remote, question.add(knob).add(dir), buf, cap, need);
  });
}

koord_status evict_request(const koord_host* host, const koord_eviction* eviction) {
  return serve(host, [&](RemoteHost& remote) -> Result<koord_status> {
    const auto record = TRY(take_record<koord_eviction>(eviction, "eviction"));
    const auto pods = TRY(array_argument(record.pods, record.n_pods, sizeof(std::uint64_t), "pods"));
    Packer question = request(Service::evict_request);
    question.add(pods.size());
    for (std::uint32_t i = 0; i < pods.size(); ++i) question.add(pods[i]);
    question.add(record.resource).add(record.reason).add(record.amount);
    add_labels(question, TRY(labels_argument(record.inputs, record.n_inputs, record.input_stride)));
    return remote.returned(remote.ask(question));
  });
}

const koord_svc_metrics metrics = {sizeof metrics, 0, define, series, end_series, append, append_columns,
                                   append_histograms, aggregate, samples};
const koord_svc_state state_table = {sizeof state_table, 0, acquire, release, version, node, pods, containers, topology, node_slo, subscribe, processes};
const koord_svc_kv kv = {sizeof kv, 0, kv_get, kv_set};
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
    {"koord.metrics/1", &metrics},
    {"koord.state/1", &state_table},
};

}  // namespace

const void* find_remote_service(std::string_view id) {
  for (const auto& service : offered)
    if (service.id == id) return service.table;
  return nullptr;
}

}  // namespace koord::child
