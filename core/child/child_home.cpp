// SPDX-License-Identifier: Apache-2.0
#include "core/child/child_home.hpp"

#include <algorithm>
#include <ctime>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "core/child/attendant.hpp"
#include "core/child/call_server.hpp"
#include "core/child/confinement.hpp"
#include "core/child/image.hpp"
#include "core/child/process.hpp"
#include "core/child/protocol.hpp"
#include "core/child/wire.hpp"
#include "core/host/file_stamp.hpp"
#include "core/host/grants.hpp"
#include "core/host/manifest.hpp"
#include "core/host/plugin_context.hpp"
#include "core/host/stop_signal.hpp"

namespace koord::child {
namespace {

using namespace std::chrono_literals;
using host::CallResult;
using host::ClassInfo;

// A watchdog ends a call that takes too long; this is only for when nobody watches.
constexpr Duration kCallPatience = std::chrono::hours(1);
constexpr Duration kLoadPatience = 10s;
constexpr Duration kEndGrace = 500ms;
constexpr std::size_t kMaxText = 4096;

std::int64_t monotonic_ns() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000ll + t.tv_nsec;
}

Packer request(Call call) {
  Packer packer;
  packer.add(static_cast<std::uint32_t>(call));
  return packer;
}

void add_labels(Packer& out, std::span<const koord_label> labels) {
  out.add(static_cast<std::uint32_t>(labels.size()));
  for (const koord_label& label : labels) out.add(label.key).add(label.value);
}

class ChildHome final : public host::Home {
 public:
  ChildHome(Children children, std::string path, const host::FileStamp& checked, std::size_t class_index,
            host::PluginContext& context, const host::HomeLimits& limits, std::vector<std::string> granted)
      : children_(std::move(children)),
        path_(std::move(path)),
        checked_(checked),
        class_index_(class_index),
        context_(context),
        limits_(limits),
        granted_(std::move(granted)) {}

  void on_lost(std::function<void(const std::string& reason)> tell) override { tell_lost_ = std::move(tell); }

  CallResult create() override {
    if (Result<void> started = start(); !started) {
      end();
      return {.status = KOORD_E_IO, .text = started.error().message()};
    }
    Packer message = request(Call::create);
    message.add(static_cast<std::uint32_t>(class_index_)).add(static_cast<std::uint32_t>(granted_.size()));
    for (const std::string& service : granted_) message.add(std::string_view(service));
    CallResult result = call(message);
    if (!result.ok()) end();  // there will be no destroy()
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
    if (std::optional<CallResult> result = attendant_->await_run()) return *std::move(result);
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
    for (const koord_intent_result& result : results)
      message.add(result.status).add(result.knob).add(result.cgroup_dir).add(result.final_value).add(result.winner);
    return call(message);
  }

  CallResult url(std::string& url) override {
    return call(request(Call::url), [&](Unpacker& given) { url = given.text().substr(0, kMaxText); });
  }

  CallResult map_sample(std::string_view name, std::span<const koord_label> labels, double& value) override {
    Packer message = request(Call::map_sample);
    message.add(name);
    add_labels(message, labels);
    return call(message.add(value), [&](Unpacker& given) { value = given.number<double>(); });
  }

  CallResult handle(const koord_hook_request& asked, const koord_hook_response& response) override {
    Packer message = request(Call::handle);
    message.add(asked.stage).add(asked.deadline_ns).add(std::string_view(image_of(*asked.pod, asked.container)));
    message.add(asked.node_slo).add(asked.cri_json);
    std::shared_lock alive(ending_, std::try_to_lock);
    if (!alive || !attendant_) return {.status = KOORD_E_AGAIN, .text = "the instance does not run"};
    return exchange(hooks_, process_->hooks(), message, [&](Unpacker& given) { adjust(response, given); });
  }

  int process() const override { return process_ ? process_->pid() : 0; }

  void abort(const std::string& reason) override {
    std::shared_lock lock(ending_);
    if (attendant_) attendant_->end(reason, kEndGrace);
  }

 private:
  using Take = std::function<void(Unpacker& given)>;

  Result<void> start() {
    TRY(host::check_unchanged(path_, checked_));
    std::unique_ptr<Process> process = TRY(Process::start(children_.program, context_.id(), path_));
    confine(process->pid());
    {
      std::lock_guard lock(ending_);
      process_ = std::move(process);
      attendant_ = std::make_unique<Attendant>(*process_, context_, children_.images,
                                               [this](const std::string& reason) {
                                                 if (tell_lost_) tell_lost_(explain(reason));
                                               });
    }
    TRY(process_->calls().send(request(Call::describe).bytes()));
    Result<std::optional<Message>> introduction = process_->calls().receive(kLoadPatience);
    if (!introduction || !*introduction) return invalid(attendant_->how_it_ended());
    Unpacker in((*introduction)->bytes);
    if (in.number<koord_status>() == KOORD_OK) return host::check_unchanged(path_, checked_);
    return invalid(std::string(in.text().substr(0, kMaxText)));
  }

  // Before any code of the plugin runs.
  void confine(pid_t pid) {
    confinement_ = std::make_unique<Confinement>(context_.shared().cgroups.layout(), context_.id(), limits_);
    confinement_->add(pid);
    if (!confinement_->problems().empty())
      context_.log(KOORD_LOG_WARN, "runs without some of its limits: " + confinement_->problems());
  }

  // What the kernel knows of the end beside the signal.
  std::string explain(std::string reason) const {
    if (confinement_->oom_kills() > 0)
      reason += ", out of its memory of " + std::to_string(limits_.memory_bytes >> 20) + " MiB";
    return reason;
  }

  // Nothing of the child runs, and nothing of it touches the context, once it returns.
  void end() {
    if (attendant_) attendant_->end("the host ended it", Duration::zero());  // hook calls in flight return
    std::lock_guard lock(ending_);
    attendant_.reset();
    process_.reset();
    confinement_.reset();
  }

  CallResult lost() { return {.status = KOORD_E_GONE, .text = explain(attendant_->how_it_ended()), .lost = true}; }

  CallResult call(const Packer& message, const Take& take = {}, int fd = -1) {
    if (!attendant_) return {.status = KOORD_E_GONE, .text = "there is no process", .lost = true};
    return exchange(strand_, process_->calls(), message, take, fd);
  }

  CallResult exchange(std::mutex& turn, Channel& channel, const Packer& message, const Take& take, int fd = -1) {
    std::lock_guard lock(turn);
    std::int64_t begin = monotonic_ns();
    Result<void> sent = channel.send(message.bytes(), fd);
    Result<std::optional<Message>> answer = sent ? channel.receive(kCallPatience) : std::optional<Message>();
    attendant_->fetch_samples();
    CallResult result = answer && *answer ? read(**answer, take) : lost();
    result.wall = Duration(monotonic_ns() - begin);
    return result;
  }

  CallResult read(const Message& answer, const Take& take) {
    Unpacker in(answer.bytes);
    CallResult result{.status = in.number<koord_status>()};
    result.text = in.text().substr(0, kMaxText);
    result.cpu = Duration(in.number<std::int64_t>());
    if (take) take(in);
    if (in.complete()) return result;
    attendant_->end("it sent an answer that makes no sense", Duration::zero());
    return lost();
  }

  static void adjust(const koord_hook_response& response, Unpacker& given) {
    for (std::uint32_t n = given.count(2 * sizeof(std::uint64_t)); n > 0; --n) {
      koord_str field = given.str();
      koord_str value = given.str();
      if (given.ok()) response.set(&response, field, value);
    }
    bool rejects = given.number<std::uint32_t>() != 0;
    koord_str why = given.str();
    if (rejects && given.ok()) response.reject(&response, why);
  }

  const Children children_;
  const std::string path_;
  const host::FileStamp checked_;
  const std::size_t class_index_;
  host::PluginContext& context_;
  const host::HomeLimits limits_;
  const std::vector<std::string> granted_;
  std::function<void(const std::string& reason)> tell_lost_;
  std::mutex strand_, hooks_;  // one call at a time on each channel
  std::shared_mutex ending_;   // shared by those who use the two below without being in a call of the strand
  std::unique_ptr<Confinement> confinement_;
  std::unique_ptr<Process> process_;
  std::unique_ptr<Attendant> attendant_;  // uses the process
};

class ChildPlugin final : public host::LoadedPlugin {
 public:
  ChildPlugin(Children children, std::string path, const host::FileStamp& checked, std::vector<ClassInfo> classes)
      : children_(std::move(children)), path_(std::move(path)), checked_(checked), classes_(std::move(classes)) {}

  const std::vector<ClassInfo>& classes() const override { return classes_; }
  bool expendable() const override { return true; }

  std::unique_ptr<host::Home> make_home(std::size_t class_index, host::PluginContext& context,
                                        const host::HomeLimits& limits) const override {
    return std::make_unique<ChildHome>(children_, path_, checked_, class_index, context, limits,
                                       host::granted_services(classes_[class_index].kind));
  }

 private:
  const Children children_;
  const std::string path_;
  const host::FileStamp checked_;
  const std::vector<ClassInfo> classes_;
};

}  // namespace

Result<std::shared_ptr<const host::LoadedPlugin>> load_in_child(Children children, const std::string& path,
                                                                const host::Manifest& manifest,
                                                                const host::FileStamp& checked) {
  std::unique_ptr<Process> process = TRY(Process::start(children.program, manifest.id, path));
  TRY(process->calls().send(request(Call::describe).bytes()));
  Result<std::optional<Message>> introduction = process->calls().receive(kLoadPatience);
  if (!introduction) {
    std::string how = process->wait(1s).value_or("does not end");
    return invalid("wanted a return, found the end of the process " + how);
  }
  if (!*introduction) return invalid("wanted an end within 10s, found none");
  Unpacker in((*introduction)->bytes);
  auto status = in.number<koord_status>();
  std::string text(in.text().substr(0, kMaxText));
  in.number<std::int64_t>();
  if (status != KOORD_OK) return invalid(text);
  std::vector<ClassInfo> classes = TRY(unpack_classes(in));
  for (const ClassInfo& info : classes) {
    if (std::find(manifest.kinds.begin(), manifest.kinds.end(), info.kind) == manifest.kinds.end())
      return invalid("wanted classes of the manifest's kinds, found one of '" + info.kind + "'");
  }
  return std::shared_ptr<const host::LoadedPlugin>(
      new ChildPlugin(std::move(children), path, checked, std::move(classes)));
}

}  // namespace koord::child
