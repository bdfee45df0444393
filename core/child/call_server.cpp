// SPDX-License-Identifier: Apache-2.0
#include "core/child/call_server.hpp"

#include <pthread.h>

#include <chrono>
#include <optional>

#include "core/child/answers.hpp"
#include "core/child/image.hpp"
#include "core/child/record_wire.hpp"
#include "core/host/hook_response.hpp"
#include "core/host/in_process_runner.hpp"
#include "core/host/stop_signal.hpp"

namespace koord::child {
namespace {

using service::CallResult;

CallResult failed(koord_status status, std::string text) { return {.status = status, .text = std::move(text)}; }

// The labels of several items, one item after the other in one array.
class LabelsOfMany {
 public:
  void add(const std::vector<koord_label>& labels) {
    all_.insert(all_.end(), labels.begin(), labels.end());
    ends_.push_back(all_.size());
  }
  // Returns the labels of item `i`. Call it after all labels were added, because add() may move the array.
  std::span<const koord_label> of(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::span(all_).subspan(begin, ends_[i] - begin);
  }

 private:
  std::vector<koord_label> all_;
  std::vector<std::size_t> ends_;
};

}  // namespace

PluginInstance::~PluginInstance() {
  if (run_thread_.joinable()) run_thread_.detach();  // ends with the process
}

CallResult PluginInstance::call(Call call, Unpacker& in, UniqueFd fd, Packer& out) {
  if (call == Call::create) return create(in);
  if (!runner()) return failed(KOORD_E_INVALID, "there is no instance");
  switch (call) {
    case Call::init:
      return runner()->init();
    case Call::run:
      return run(std::move(fd));
    case Call::on_event: {
      auto what = in.number<std::uint32_t>();
      return runner()->on_event(what, in.number<std::uint64_t>());
    }
    case Call::collect: {
      Time now = from_ns(in.number<std::uint64_t>());
      return runner()->collect(now, from_ns(in.number<std::uint64_t>()));
    }
    case Call::evaluate: {
      Time now = from_ns(in.number<std::uint64_t>());
      return runner()->evaluate(now, from_ns(in.number<std::uint64_t>()));
    }
    case Call::on_applied:
      return on_applied(in);
    case Call::url: {
      std::string url;
      CallResult result = runner()->url(url);
      out.add(std::string_view(url));
      return result;
    }
    case Call::targets:
      return targets(out);
    case Call::map_metrics:
      return map_metrics(in, out);
    case Call::map_series:
      return map_series(in, out);
    case Call::map_samples:
      return map_samples(in, out);
    case Call::handle:
      return handle(in, out);
    case Call::stop:
      return runner()->stop();
    case Call::destroy: {
      if (run_thread_.joinable()) run_thread_.join();
      return runner()->destroy();
    }
    default:
      return failed(KOORD_E_INVALID, "call " + std::to_string(static_cast<std::uint32_t>(call)) + " is not known");
  }
}

CallResult PluginInstance::create(Unpacker& in) {
  auto index = in.number<std::uint32_t>();
  std::set<std::string, std::less<>> granted;
  for (std::uint32_t n = in.count(sizeof(std::uint64_t)); n > 0; --n) granted.emplace(in.text());
  if (index >= module_->classes().size()) return failed(KOORD_E_INVALID, "there is no such class");
  host_.grant(std::move(granted));
  owned_runner_ = host::make_in_process_runner(*module_->class_at(index), module_->classes()[index], host_);
  runner_ = owned_runner_.get();
  return runner()->create();
}

CallResult PluginInstance::run(UniqueFd stop) {
  if (!stop) return failed(KOORD_E_INVALID, "run without a stop signal");
  run_thread_ = std::thread([this, signal = std::make_shared<host::StopSignal>(std::move(stop))] {
    pthread_setname_np(pthread_self(), "run");
    CallResult result = runner()->run(*signal);
    Packer message;
    message.add(static_cast<std::uint32_t>(Service::run_returned))
        .add(result.status)
        .add(std::string_view(result.text));
    host_.send(message);
  });
  return {};
}

CallResult PluginInstance::on_applied(Unpacker& in) {
  std::vector<koord_intent_result> results(in.count(sizeof(koord_intent_result) / 2));
  for (koord_intent_result& result : results) {
    result = {.struct_size = sizeof result, .status = 0, .knob = {}, .cgroup_dir = {}, .final_value = {}, .winner = {}};
    take_members(in, result);
  }
  return runner()->on_applied(results);
}

CallResult PluginInstance::targets(Packer& out) {
  std::vector<scrape::ScrapeTarget> targets;
  CallResult result = runner()->targets(targets);
  out.add(static_cast<std::uint32_t>(targets.size()));
  for (const scrape::ScrapeTarget& target : targets) add_target(out, target);
  return result;
}

CallResult PluginInstance::map_metrics(Unpacker& in, Packer& out) {
  const std::string_view target = in.text();
  std::vector<scrape::ScrapedMetric> metrics(in.count(sizeof(std::uint64_t)));
  for (scrape::ScrapedMetric& metric : metrics) metric.name = in.text();
  CallResult result = runner()->map_metrics(target, metrics);
  for (const scrape::ScrapedMetric& metric : metrics) out.add(metric.status).add(std::string_view(metric.mapped));
  return result;
}

CallResult PluginInstance::map_series(Unpacker& in, Packer& out) {
  const std::string_view target = in.text();
  std::vector<scrape::ScrapedSeries> series(in.count(sizeof(std::uint64_t)));
  LabelsOfMany labels;
  for (scrape::ScrapedSeries& one : series) {
    one.metric = in.text();
    labels.add(in.labels());
  }
  for (std::size_t i = 0; i < series.size(); ++i) series[i].labels = labels.of(i);
  CallResult result = runner()->map_series(target, series);
  for (const scrape::ScrapedSeries& one : series) {
    out.add(one.status).add(one.change.subject).add(static_cast<std::uint32_t>(one.change.labels.size()));
    for (const auto& [name, value] : one.change.labels) out.add(std::string_view(name)).add(std::string_view(value));
  }
  return result;
}

CallResult PluginInstance::map_samples(Unpacker& in, Packer& out) {
  const std::string_view target = in.text();
  std::vector<scrape::ScrapedSample> samples(in.count(sizeof(std::uint64_t) + sizeof(double)));
  LabelsOfMany labels;
  for (scrape::ScrapedSample& sample : samples) {
    sample.name = in.text();
    labels.add(in.labels());
    sample.value = in.number<double>();
  }
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].labels = labels.of(i);
  CallResult result = runner()->map_samples(target, samples);
  for (const scrape::ScrapedSample& sample : samples) out.add(sample.status).add(sample.value);
  return result;
}

CallResult PluginInstance::handle(Unpacker& in, Packer& out) {
  koord_hook_request request{.struct_size = sizeof request};
  request.stage = in.number<std::uint32_t>();
  request.deadline_ns = in.number<std::uint64_t>();
  Result<Image> image = Image::open(std::string(in.text()));
  if (!image) return failed(KOORD_E_INVALID, image.error().message());
  request.pod = image->root().pods;
  request.container = image->root().n_containers > 0 ? image->root().containers : nullptr;
  request.node_slo = in.str();
  request.cri_json = in.str();
  const bool devices = in.number<std::uint32_t>() != 0, mounts = in.number<std::uint32_t>() != 0;
  host::HookResponse response(host_.host(), {devices, mounts});
  CallResult result = runner()->handle(request, response.table());
  const host::HookSettings settings = response.close();
  out.add(static_cast<std::uint32_t>(settings.fields.size()));
  for (const auto& [field, value] : settings.fields) out.add(std::string_view(field)).add(std::string_view(value));
  out.add(static_cast<std::uint32_t>(settings.scales.size()));
  for (const auto& [field, factor] : settings.scales) out.add(std::string_view(field)).add(factor);
  out.add(std::uint32_t{settings.rejection.has_value()}).add(std::string_view(settings.rejection.value_or("")));
  return result;
}

void serve_calls(Channel& channel, PluginInstance& plugin, HostProxy& host) {
  for (;;) {
    Result<std::optional<Message>> message = channel.receive(kForEver);
    if (!message || !*message) return;
    Unpacker in((*message)->bytes);
    auto call = static_cast<Call>(in.number<std::uint32_t>());
    Packer given, answer;
    host.set_in_call(true);
    CallResult result = plugin.call(call, in, std::move((*message)->fd), given);
    host.set_in_call(false);
    answer.add(result.status).add(std::string_view(result.text)).add(std::int64_t{result.cpu.count()});
    if (!channel.send(answer.bytes() + given.bytes(), -1, kForEver)) return;
  }
}

void pack_classes(Packer& out, const std::vector<load::ClassInfo>& classes) {
  out.add(static_cast<std::uint32_t>(classes.size()));
  for (const load::ClassInfo& info : classes) add_members(out, info);
}

Result<std::vector<load::ClassInfo>> unpack_classes(Unpacker& in) {
  std::vector<load::ClassInfo> classes(in.count(3 * sizeof(std::uint64_t)));
  for (load::ClassInfo& info : classes) take_members(in, info);
  if (!in.complete()) return invalid("the child's description of its plugin makes no sense");
  return classes;
}

}  // namespace koord::child
