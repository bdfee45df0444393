// SPDX-License-Identifier: Apache-2.0
#include "core/service/plugin_context.hpp"

#include <algorithm>
#include <iterator>

#include "core/base/parse.hpp"
#include "core/base/utf8.hpp"
#include "core/log/log.hpp"
#include "core/service/serve.hpp"
#include "core/service/services.hpp"

namespace koord::service {
namespace {

constexpr log::Category plugin_log{"plugin"};
constexpr std::uint64_t kLogLines = 50;
constexpr Duration kLogPeriod = std::chrono::seconds(10);
constexpr Duration kMostAhead = std::chrono::minutes(1);
constexpr std::size_t kMaxRefusalBytes = 1024;

std::atomic<std::uint64_t> last_serial = 0;

// The last error of a plugin. It is thread-local, because it belongs to the thread with the failing call, so it needs
// no lock.
struct LastError {
  std::uint64_t context_serial = 0;
  ReportedError error = {};
};
thread_local LastError last_error;

log::Level level_of(std::int32_t abi_level) {
  switch (abi_level) {
    case KOORD_LOG_DEBUG:
      return log::Level::debug;
    case KOORD_LOG_WARN:
      return log::Level::warn;
    case KOORD_LOG_ERROR:
      return log::Level::error;
    default:
      return log::Level::info;
  }
}

std::string_view cut(koord_str text, std::size_t limit) {
  if (!text.p) return {};
  return {text.p, static_cast<std::size_t>(std::min<std::uint64_t>(text.n, limit))};
}

const void* get_service(const koord_host* host, const char* id) {
  if (!host || !host->impl || !id) return nullptr;
  const PluginContext& context = *static_cast<PluginContext*>(host->impl);
  return context.is_granted(id) ? find_service(id) : nullptr;
}

void log_line(const koord_host* host, std::int32_t level, koord_str message) {
  serve(host, [&](PluginContext& context) {
    context.log(level, cut(message, kMaxLogBytes));
    return KOORD_OK;
  });
}

void set_error(const koord_host* host, koord_status status, koord_str why) {
  serve(host, [&](PluginContext& context) { return context.fail(status, cut(why, kMaxErrorBytes)); });
}

std::size_t bytes_of(const knob::Intent& intent) {
  std::size_t bytes = intent.knob->name.size() + intent.cgroup_dir.size() + intent.value.size() + intent.reason.size();
  for (const auto& [name, value] : intent.inputs) bytes += name.size() + value.size();
  return bytes;
}

std::shared_ptr<const ConfigDocument> parse_or_empty(std::string_view json) {
  if (auto parsed = ConfigDocument::parse(json)) return *std::move(parsed);
  return *ConfigDocument::parse({});
}

}  // namespace

PluginContext::PluginContext(SharedServices& shared, std::string plugin_id, std::set<std::string> granted,
                             std::string config_json, Rights rights)
    : shared_(shared),
      id_(std::move(plugin_id)),
      serial_(++last_serial),
      granted_(std::make_move_iterator(granted.begin()), std::make_move_iterator(granted.end())),
      rights_(std::move(rights)),
      host_{sizeof(koord_host), KOORD_ABI_MAJOR, KOORD_ABI_MINOR, this, get_service, log_line, set_error},
      log_limit_(kLogLines, kLogPeriod),
      cgroup_files_(shared.cgroups),
      config_(parse_or_empty(config_json)) {
  shared_.presence.enter(id_);
}

PluginContext::~PluginContext() {
  if (lines_left_out_ > 0) log::warn(plugin_log, "{}: its last {} lines were left out", id_, lines_left_out_.load());
  shared_.verdicts.end_session(shared_.clock.now(), id_, serial_, "its plugin has ended");
  shared_.presence.leave(id_, [this] {
    shared_.metrics.end_owner(id_);
    shared_.capabilities.forget(id_);
  });
}

std::function<void(std::string_view why)> PluginContext::verdict_closer() const {
  return [&shared = shared_, id = id_, session = serial_](std::string_view why) {
    shared.verdicts.close_session(shared.clock.now(), id, session, why);
  };
}

std::uint64_t PluginContext::latest_plausible_ns() const { return to_ns(shared_.clock.now() + kMostAhead); }

bool PluginContext::is_time_plausible(std::uint64_t t_ns) {
  if (t_ns <= latest_plausible_ns_.load(std::memory_order_relaxed)) return true;
  const std::uint64_t latest = latest_plausible_ns();
  latest_plausible_ns_.store(latest, std::memory_order_relaxed);
  return t_ns <= latest;
}

koord_status PluginContext::fail(koord_status status, std::string_view why) {
  last_error.context_serial = serial_;
  last_error.error.status = status;
  last_error.error.text = why;
  return status;
}

std::optional<ReportedError> PluginContext::take_error() {
  if (last_error.context_serial != serial_) return std::nullopt;
  last_error.context_serial = 0;
  return std::move(last_error.error);
}

void PluginContext::note_breach(const char* quota, const std::string& text) {
  if (meter_->breaches.add(quota, text, shared_.clock.now())) log::warn(plugin_log, "{}: {}", id_, text);
}

Error PluginContext::over_quota(const char* quota, const std::string& text) {
  note_breach(quota, text);
  return refuse(KOORD_E_AGAIN, text);
}

void PluginContext::note_refusal(std::string text) {
  cut_utf8(text, kMaxRefusalBytes);
  if (const auto line = shared_.refusals.admit(id_, text, shared_.clock.now()))
    log::warn(plugin_log, "{}: {}", id_, *line);
}

Error PluginContext::refused(Error error) {
  note_refusal(why(error));
  return error;
}

void PluginContext::log(std::int32_t level, std::string_view message) {
  const log::Level wanted = level_of(level);
  if (!log::enabled(wanted)) return;
  const std::optional<std::uint64_t> left_out = log_limit_.admit(shared_.clock.now());
  if (!left_out) {
    ++lines_left_out_;
    return note_breach("log", "it writes more than " + std::to_string(kLogLines) + " lines in " +
                                  format_duration(kLogPeriod) + ", further ones are left out");
  }
  lines_left_out_ = 0;
  const std::string behind = *left_out == 0 ? "" : " (" + std::to_string(*left_out) + " lines left out before this)";
  log::write(plugin_log, wanted, id_ + ": " + std::string(message) + behind);
}

Result<metric::Subject> PluginContext::living_subject(std::uint64_t handle) {
  if (handle == KOORD_NO_SUBJECT) return metric::Subject();
  std::optional<metric::Subject> subject = shared_.views.of(shared_.hub.current())->subject(handle);
  if (!subject) return refuse(KOORD_E_GONE, "no pod or container has the handle " + std::to_string(handle));
  return *std::move(subject);
}

PluginContext::PlanBefore PluginContext::plan_before() const {
  std::lock_guard lock(mutex_);
  return plan_.empty() ? PlanBefore{plan_before_, n_repeated_} : PlanBefore{};
}

Result<void> PluginContext::propose(const PlanBefore& before, std::size_t n_more, knob::Plan others) {
  std::lock_guard lock(mutex_);
  std::size_t bytes = plan_bytes_;
  for (const knob::Intent& intent : others) bytes += bytes_of(intent);
  if (Result<void> fits = plan_argument(n_repeated_ + plan_.size() + n_more + others.size(), bytes); !fits)
    return over_quota("plan", fits.error().text);
  plan_bytes_ = bytes;
  if (plan_.empty() && before.plan == plan_before_ && before.n == n_repeated_)
    n_repeated_ += n_more;
  else if (n_more > 0)  // a different call by the plugin came in between
    plan_.insert(plan_.end(), before.plan->begin() + static_cast<std::ptrdiff_t>(before.n),
                 before.plan->begin() + static_cast<std::ptrdiff_t>(before.n + n_more));
  plan_.insert(plan_.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  return {};
}

Result<void> PluginContext::request_eviction(evict::Request request) {
  std::lock_guard lock(mutex_);
  if (evictions_.size() >= kMaxEvictions)
    return over_quota("evictions", "more than " + std::to_string(kMaxEvictions) + " evictions were requested at once");
  evictions_.push_back(std::move(request));
  return {};
}

std::vector<evict::Request> PluginContext::take_evictions() {
  std::lock_guard lock(mutex_);
  return std::exchange(evictions_, {});
}

knob::Plan PluginContext::take_plan() {
  std::lock_guard lock(mutex_);
  knob::Plan plan(plan_before_->begin(), plan_before_->begin() + static_cast<std::ptrdiff_t>(n_repeated_));
  plan.insert(plan.end(), std::make_move_iterator(plan_.begin()), std::make_move_iterator(plan_.end()));
  plan_before_ = std::make_shared<const knob::Plan>(plan);
  plan_.clear();
  plan_bytes_ = 0;
  n_repeated_ = 0;
  return plan;
}

bool PluginContext::repeats_plan() const {
  std::lock_guard lock(mutex_);
  return plan_.empty() && n_repeated_ > 0 && n_repeated_ == plan_before_->size();
}

void PluginContext::drop_plan() {
  std::lock_guard lock(mutex_);
  plan_.clear();
  plan_bytes_ = 0;
  n_repeated_ = 0;
}

Result<void> PluginContext::set_config_json(std::string_view json) {
  std::shared_ptr<const ConfigDocument> parsed = TRY(ConfigDocument::parse(json));
  std::lock_guard lock(mutex_);
  config_ = std::move(parsed);
  return {};
}

std::shared_ptr<const ConfigDocument> PluginContext::config() const {
  std::lock_guard lock(mutex_);
  return config_;
}

}  // namespace koord::service
