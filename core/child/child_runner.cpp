// SPDX-License-Identifier: Apache-2.0
#include "core/child/child_runner.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "core/base/program.hpp"
#include "core/base/thread_cpu.hpp"
#include "core/child/answers.hpp"
#include "core/child/call_server.hpp"
#include "core/child/child_monitor.hpp"
#include "core/child/image.hpp"
#include "core/child/plugin_process.hpp"
#include "core/child/protocol.hpp"
#include "core/child/record_wire.hpp"
#include "core/child/wire.hpp"
#include "core/host/hook_reach.hpp"
#include "core/host/stop_signal.hpp"
#include "core/load/grants.hpp"
#include "core/load/manifest.hpp"
#include "core/service/plugin_context.hpp"

namespace koord::child {
namespace {

using namespace std::chrono_literals;
using load::ClassInfo;
using service::CallResult;

// A watchdog ends a call that takes too long. This limit is for calls without a watchdog.
constexpr Duration kCallPatience = std::chrono::hours(1);
// The limits of one message of call_in_parts(). A message may exceed kPartBytes by one item, which is at most as long
// as a line of a metrics exposition.
constexpr std::size_t kPartBytes = 128 << 10;
constexpr std::size_t kPartItems = 500;
// The size limit of an answer to a call on the strand or of a hook. It allows 1 KiB for each series of a part.
constexpr std::size_t kMaxCallAnswer = 512 << 10;
// CPU time that is small enough to be measured by the monotonic clock.
constexpr Duration kSmallWork = 50us;
// The limit of a call's charge by the monotonic clock, which also runs while the thread is preempted.
constexpr Duration kMostUnmeasured = 200us;
constexpr unsigned kMeasuredCalls = 16;  // measured by CPU time after a call with more than kSmallWork

Packer request(Call call) {
  Packer packer;
  packer.add(static_cast<std::uint32_t>(call));
  return packer;
}

// The state of one channel, on which one call runs at a time.
struct CallLane {
  std::mutex busy;
  unsigned measured_calls = 0;  // the number of next calls to charge by the thread's CPU time
};
class ChildRunner final : public host::Runner {
 public:
  ChildRunner(PluginProcess::Spec spec, SnapshotImages& images, std::size_t class_index,
              service::PluginContext& context, const host::RunnerLimits& limits, std::vector<std::string> granted)
      : spec_(std::move(spec)),
        images_(images),
        class_index_(class_index),
        context_(context),
        limits_(limits),
        granted_(std::move(granted)) {}

  void on_lost(std::function<void(const std::string& reason)> callback) override { on_lost_ = std::move(callback); }

  CallResult create() override {
    if (Result<void> started = start(); !started) {
      end();
      return {.status = KOORD_E_IO, .text = started.error().message()};
    }
    Packer message = request(Call::create);
    message.add(static_cast<std::uint32_t>(class_index_)).add(static_cast<std::uint32_t>(granted_.size()));
    for (const std::string& service : granted_) message.add(std::string_view(service));
    CallResult result = call(message);
    if (!result.ok()) end();  // destroy() will not be called
    return result;
  }

  CallResult init() override { return call(request(Call::init)); }
  CallResult stop() override { return call(request(Call::stop)); }

  CallResult destroy() override {
    CallResult result = call(request(Call::destroy));
    end();
    return result.lost ? CallResult{} : result;
  }

  CallResult run(const host::StopSignal& stop) override {
    CallResult started = call(request(Call::run), {}, stop.fd());
    if (!started.ok()) return started;
    if (std::optional<CallResult> result = monitor_->await_run()) return *std::move(result);
    return lost();
  }

  CallResult on_event(std::uint32_t what, std::uint64_t version) override {
    return call(request(Call::on_event).add(what).add(version));
  }
  CallResult collect(Time now, Time deadline) override {
    return call(request(Call::collect).add(to_ns(now)).add(to_ns(deadline)));
  }
  CallResult evaluate(Time now, Time deadline) override {
    return call(request(Call::evaluate).add(to_ns(now)).add(to_ns(deadline)));
  }

  CallResult on_applied(std::span<const koord_intent_result> results) override {
    Packer message = request(Call::on_applied);
    message.add(static_cast<std::uint32_t>(results.size()));
    for (const koord_intent_result& result : results) add_members(message, result);
    return call(message);
  }

  CallResult url(std::string& url) override {
    return call(request(Call::url), [&](Unpacker& given) { url = take_text(given); });
  }

  CallResult targets(std::vector<scrape::ScrapeTarget>& targets) override {
    std::vector<scrape::ScrapeTarget> found;
    CallResult result = call(request(Call::targets), [&](Unpacker& given) { found = take_targets(given); });
    if (result.ok()) targets = std::move(found);
    return result;
  }

  CallResult map_metrics(std::string_view target, std::span<scrape::ScrapedMetric> metrics) override {
    return call_in_parts(
        Call::map_metrics, target, metrics,
        [](Packer& out, const scrape::ScrapedMetric& metric) { out.add(metric.name); }, take_metric);
  }

  CallResult map_series(std::string_view target, std::span<scrape::ScrapedSeries> series) override {
    return call_in_parts(
        Call::map_series, target, series,
        [](Packer& out, const scrape::ScrapedSeries& one) {
          out.add(one.metric);
          out.add(one.labels);
        },
        take_series);
  }

  CallResult map_samples(std::string_view target, std::span<scrape::ScrapedSample> samples) override {
    return call_in_parts(
        Call::map_samples, target, samples,
        [](Packer& out, const scrape::ScrapedSample& sample) {
          out.add(sample.name);
          out.add(sample.labels);
          out.add(sample.value);
        },
        take_sample);
  }

  CallResult handle(const koord_hook_request& asked, const koord_hook_response& response) override {
    Packer message = request(Call::handle);
    message.add(asked.stage).add(asked.deadline_ns).add(std::string_view(image_of(*asked.pod, asked.container)));
    const host::HookReach reach = host::hook_reach(limits_.third_party, limits_.hook_fields);
    message.add(asked.node_slo).add(asked.cri_json);
    message.add(std::uint32_t{reach.devices}).add(std::uint32_t{reach.mounts});
    std::shared_lock alive(ending_, std::try_to_lock);
    if (!alive || !monitor_) return {.status = KOORD_E_AGAIN, .text = "the instance does not run"};
    return exchange(hooks_, plugin_process_->process().hooks(), message,
                    [&](Unpacker& given) { take_adjustments(given, response); });
  }

  int process() const override { return plugin_process_ ? plugin_process_->process().pid() : 0; }
  const host::IsolationLevel& isolation() const override {
    return plugin_process_ ? plugin_process_->isolation() : host::isolation_in_process();
  }

  void abort(const std::string& reason, Duration grace) override {
    is_aborted_ = true;
    // If try_lock fails, another thread holds the lock. That thread either starts the process, and checks is_aborted_
    // after that, or already ends it.
    std::shared_lock lock(ending_, std::try_to_lock);
    if (lock && monitor_) monitor_->end(reason, grace);
  }

 private:
  using Take = std::function<void(Unpacker& given)>;

  Result<void> start() {
    std::unique_ptr<PluginProcess> plugin_process = TRY(PluginProcess::start(spec_, limits_));
    if (!plugin_process->problems().empty())
      context_.log(KOORD_LOG_WARN, "runs without some of its limits: " + plugin_process->problems());
    {
      std::lock_guard lock(ending_);
      plugin_process_ = std::move(plugin_process);
      monitor_ = std::make_unique<ChildMonitor>(plugin_process_->process(), context_, images_, limits_.cpu_millis,
                                                [this](const std::string& reason) {
                                                  if (on_lost_) on_lost_(plugin_process_->explain(reason));
                                                });
    }
    if (is_aborted_) monitor_->end("the host ended it", Duration::zero());
    TRY(plugin_process_->handshake());
    for (Channel* channel : {&plugin_process_->process().calls(), &plugin_process_->process().hooks()})
      channel->guard(kMaxCallAnswer);
    return {};
  }

  // Ends the child. After it returns, no process of the child runs and no thread uses the context for it.
  void end() {
    if (monitor_) monitor_->dismiss();  // makes hook calls in flight return
    std::lock_guard lock(ending_);
    monitor_.reset();
    plugin_process_.reset();
  }

  CallResult lost() {
    return {.status = KOORD_E_GONE, .text = plugin_process_->explain(monitor_->how_it_ended()), .lost = true};
  }

  CallResult call(const Packer& message, const Take& take = {}, int fd = -1) {
    if (!monitor_) return {.status = KOORD_E_GONE, .text = "there is no process", .lost = true};
    return exchange(strand_, plugin_process_->process().calls(), message, take, fd);
  }

  // Makes as many calls as the items need, because each message has at most kPartItems items.
  template <class Item, class Add, class Take>
  CallResult call_in_parts(Call call, std::string_view target, std::span<Item> items, Add add, Take take) {
    CallResult all;
    for (std::size_t begin = 0, end = 0; begin < items.size() && all.ok(); begin = end) {
      Packer body;
      while (end < items.size() && end < begin + kPartItems && body.bytes().size() < kPartBytes)
        add(body, items[end++]);
      auto part = items.subspan(begin, end - begin);
      Packer message = request(call);
      message.add(target).add(static_cast<std::uint32_t>(part.size())).append(body);
      CallResult one = this->call(message, [&](Unpacker& given) {
        for (Item& item : part) take(given, item);
      });
      one.wall += all.wall;
      one.cpu += all.cpu;
      all = std::move(one);
    }
    return all;
  }

  // Charges the child for the work of this thread. Reading a thread's CPU time is a system call that takes a tenth of
  // the time of a small call. So small work is measured by the monotonic clock from the arrival of the answer on. After
  // a call with more work, the next kMeasuredCalls calls are measured by CPU time.
  CallResult exchange(CallLane& lane, Channel& channel, const Packer& message, const Take& take, int fd = -1) {
    std::lock_guard lock(lane.busy);
    const bool is_measured = lane.measured_calls > 0;
    const Duration cpu_before = is_measured ? thread_cpu() : Duration::zero();
    const auto begin = std::chrono::steady_clock::now();
    Result<void> sent = channel.send(message.bytes(), fd);
    Result<std::optional<Message>> answer = sent ? channel.receive(kCallPatience) : std::optional<Message>();
    if (sent && !answer) refuse_answer(answer.error());
    const auto answered = std::chrono::steady_clock::now();
    monitor_->fetch_samples();
    CallResult result = answer && *answer ? read(**answer, take) : lost();
    const auto end = std::chrono::steady_clock::now();
    result.wall = end - begin;
    // A long answer was already copied when it counts as arrived. The copy takes about 1 ns per byte.
    const Duration copied(answer && *answer ? static_cast<std::int64_t>((**answer).bytes.size()) : 0);
    const Duration work =
        is_measured ? thread_cpu() - cpu_before : std::min<Duration>(end - answered + copied, kMostUnmeasured);
    context_.meter()->charge(work);
    if (work > kSmallWork)
      lane.measured_calls = kMeasuredCalls;
    else if (is_measured)
      --lane.measured_calls;
    return result;
  }

  // Ends a child that sent an invalid answer. If the channel is closed, the monitor already handles the child's end.
  void refuse_answer(const Error& error) {
    if (!error.is(std::errc::broken_pipe)) monitor_->end("it sent " + error.text, host::kAbortGrace);
  }

  CallResult read(const Message& answer, const Take& take) {
    Unpacker in(answer.bytes);
    CallResult result = take_result(in);
    if (take) take(in);
    if (in.complete()) return result;
    monitor_->end("it sent an answer that makes no sense", Duration::zero());
    return lost();
  }

  const PluginProcess::Spec spec_;
  SnapshotImages& images_;
  const std::size_t class_index_;
  service::PluginContext& context_;
  const host::RunnerLimits limits_;
  const std::vector<std::string> granted_;
  std::function<void(const std::string& reason)> on_lost_;
  CallLane strand_, hooks_;
  std::shared_mutex ending_;  // held shared to use the next two members outside of a call of the strand
  std::atomic<bool> is_aborted_ = false;
  std::unique_ptr<PluginProcess> plugin_process_;
  std::unique_ptr<ChildMonitor> monitor_;  // destroyed first, because it uses the process
};

class ChildPlugin final : public host::LoadedPlugin {
 public:
  ChildPlugin(PluginProcess::Spec spec, SnapshotImages& images, std::vector<ClassInfo> classes,
              host::IsolationLevel isolation)
      : spec_(std::move(spec)), images_(images), classes_(std::move(classes)), isolation_(std::move(isolation)) {}

  const std::vector<ClassInfo>& classes() const override { return classes_; }
  bool expendable() const override { return true; }
  const host::IsolationLevel& isolation() const override { return isolation_; }

  std::unique_ptr<host::Runner> make_runner(std::size_t class_index, service::PluginContext& context,
                                            const host::RunnerLimits& limits) const override {
    return std::make_unique<ChildRunner>(spec_, images_, class_index, context, limits,
                                         load::granted_services(classes_[class_index].kind));
  }

 private:
  const PluginProcess::Spec spec_;
  SnapshotImages& images_;
  const std::vector<ClassInfo> classes_;
  const host::IsolationLevel isolation_;  // isolation of the process that described the classes
};

}  // namespace

std::string plugin_host_program(const std::string& configured) {
  return configured.empty() ? directory_of_program() + "/koord-plugin-host" : configured;
}

Result<std::shared_ptr<const host::LoadedPlugin>> load_in_child(const Children& children, const std::string& path,
                                                                const load::Manifest& manifest,
                                                                const FileVersion& checked,
                                                                const host::RunnerLimits& limits) {
  PluginProcess::Spec spec{.program = children.program,
                           .layout = children.layout,
                           .layers = children.layers,
                           .cgroup = children.layout ? Confinement::free_name(*children.layout, manifest.id) : "",
                           .plugin_id = manifest.id,
                           .path = path,
                           .checked = checked};
  std::unique_ptr<PluginProcess> plugin_process = TRY(PluginProcess::start(spec, limits));
  std::vector<ClassInfo> classes = TRY(plugin_process->handshake());
  for (const ClassInfo& info : classes) {
    if (std::find(manifest.kinds.begin(), manifest.kinds.end(), info.kind) == manifest.kinds.end())
      return invalid("expected classes of the manifest's kinds, found one of '" + info.kind + "'");
  }
  return std::shared_ptr<const host::LoadedPlugin>(
      new ChildPlugin(std::move(spec), children.images, std::move(classes), plugin_process->isolation()));
}

}  // namespace koord::child
