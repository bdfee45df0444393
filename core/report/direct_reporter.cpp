// SPDX-License-Identifier: Apache-2.0
#include "core/report/direct_reporter.hpp"

#include <algorithm>
#include <utility>

#include "core/kube/refusal.hpp"
#include "core/report/report_log.hpp"

namespace koord::report {
namespace {

using namespace std::chrono_literals;

// In a shorter outage, such as a change of the leader, waits are at most a period. In a longer outage the waits grow.
constexpr Duration kShortOutage = 1min;
constexpr Duration kLongestWait = 1min;
constexpr Duration kLeaseTimeout = 5s;
// Limit of the period until the manager has accepted a report. Before that, the manager may expect the shorter period
// of an earlier agent on this node.
constexpr Duration kFirstPeriod = 5s;
constexpr Duration kLeastReportTimeout = 2s, kMostReportTimeout = 5s;

std::string server_name_of(const DirectOptions& options) {
  if (!options.server_name.empty()) return options.server_name;
  return options.lease.name + "." + options.lease.name_space + ".svc";
}

kube::Call report_call(const std::string& node, const DirectBody& body, Duration period) {
  kube::Call call{.verb = body.is_patch ? kube::Verb::patch : kube::Verb::update,
                  .target = std::string(kDirectCollection) + "/" + node + "/status",
                  .body = body.text,
                  .headers = {{"Prefer", "return=minimal"}},
                  .timeout = std::clamp<Duration>(period, kLeastReportTimeout, kMostReportTimeout),
                  .max_body = DirectReporter::kMostAnswerBytes};
  if (body.is_patch) call.content_type = "application/merge-patch+json";
  if (body.is_gzipped) call.headers.emplace_back("Content-Encoding", "gzip");
  return call;
}

}  // namespace

struct DirectReporter::Ready {
  std::string refusal;  // why no report is available
  DirectBody body;
};

DirectReporter::DirectReporter(Parts parts, DirectOptions options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      backoff_(options_.period, kLongestWait, random_seed()),
      problems_(30min),
      strand_(parts_.workers, "direct-report") {}

DirectReporter::~DirectReporter() { stop(); }

void DirectReporter::start() { step_in(backoff_.random().between(Duration::zero(), pace())); }

void DirectReporter::stop() {
  *alive_ = false;
  timer_.reset();
  pending_.reset();
}

void DirectReporter::step_in(Duration wait) {
  timer_ = parts_.loop.after(wait, [this] { step(); });
}

Duration DirectReporter::pace() const {
  return was_accepted_ ? options_.period : std::min<Duration>(options_.period, kFirstPeriod);
}

void DirectReporter::step() {
  begun_ = parts_.clock.now();
  if (knows_leader_) return compute();
  if (options_.address.empty()) return find_leader();
  connect(options_.address);
}

// Reads the Lease. The call accepts any version, so the API server answers from its cache.
void DirectReporter::find_leader() {
  kube::Call call{.verb = kube::Verb::get,
                  .target = options_.lease.collection() + "/" + options_.lease.name + "?resourceVersion=0",
                  .timeout = kLeaseTimeout};
  pending_ = parts_.api.send(std::move(call), [this](Result<kube::Reply> reply) { take_lease(std::move(reply)); });
  std::lock_guard lock(mutex_);
  ++view_.lookups;
}

void DirectReporter::take_lease(Result<kube::Reply> reply) {
  const auto request = std::move(pending_);
  if (!reply) return fail("the Lease of the manager: " + reply.error().message());
  const Result<std::string> leader = leader_of(*reply);
  if (!leader) return fail(leader.error().text);
  connect(*leader);
}

Result<std::string> DirectReporter::leader_of(const kube::Reply& reply) const {
  const std::string name = "'" + options_.lease.name_space + "/" + options_.lease.name + "'";
  if (reply.status == 404) return not_found("there is no manager: the Lease " + name + " does not exist");
  if (!reply.ok()) return invalid("the Lease " + name + ": " + kube::describe(kube::status_of(reply)));
  const Result<kube::LeaseState> lease = kube::parse_lease_state(reply.body);
  if (!lease) return invalid("the Lease " + name + ": " + lease.error().message());
  if (lease->holder.empty()) return not_found("no manager leads: the Lease " + name + " has no holder");
  std::string address = kube::address_of_identity(lease->holder);
  if (address.empty()) return invalid("the holder of the Lease " + name + " has no address: '" + lease->holder + "'");
  return address;
}

// Connects to the address. The connection to an unchanged leader is reused.
void DirectReporter::connect(const std::string& address) {
  const Result<kube::HostAndPort> place = kube::split_address(address);
  if (!place) return fail("the manager's address: " + place.error().message());
  if (address != address_ || !manager_) {
    manager_ = std::make_unique<kube::Client>(
        parts_.loop, parts_.workers, parts_.clock, manager_config(*place),
        kube::ClientOptions{.requests_per_second = 5, .burst = 2, .kept_connections = 1});
    address_ = address;
    accepted_ = nullptr;
  }
  knows_leader_ = true;
  {
    std::lock_guard lock(mutex_);
    view_.manager = address_;
  }
  compute();
}

kube::ConnectionConfig DirectReporter::manager_config(const kube::HostAndPort& place) const {
  kube::ConnectionConfig config = parts_.api.config();
  config.host = place.host;
  config.port = place.port;
  config.path_prefix.clear();
  config.server_name = server_name_of(options_);
  if (!options_.ca_file.empty()) config.ca = {.file = options_.ca_file, .text = {}};
  return config;
}

void DirectReporter::compute() {
  is_computing_ = strand_.post([this, before = accepted_, alive = alive_] {
    auto ready = std::make_shared<Ready>();
    DirectReport report = parts_.compute();
    report.period = options_.period;
    ready->refusal = report.report.refusal;
    if (ready->refusal.empty()) ready->body = make_direct_body(options_.node_name, report, before, parts_.clock.now());
    parts_.loop.post([this, alive, ready = std::shared_ptr<const Ready>(std::move(ready))] {
      if (!*alive) return;
      is_computing_ = false;
      send(ready);
    });
  });
  if (!is_computing_) fail("the report cannot be computed");
}

void DirectReporter::send(const std::shared_ptr<const Ready>& ready) {
  if (!ready->refusal.empty()) {
    {
      std::lock_guard lock(mutex_);
      ++view_.unfit;
    }
    note(ready->refusal);
    return step_in(pace());
  }
  {
    std::lock_guard lock(mutex_);
    view_.bytes += ready->body.text.size();
  }
  pending_ = manager_->send(report_call(options_.node_name, ready->body, options_.period),
                            [this, ready](Result<kube::Reply> reply) { take_answer(ready, std::move(reply)); });
}

void DirectReporter::take_answer(const std::shared_ptr<const Ready>& ready, Result<kube::Reply> reply) {
  const auto request = std::move(pending_);
  Result<void> understood = reply ? Result<void>() : Result<void>(reply.error());
  if (reply && reply->ok()) understood = check_direct_answer(reply->body);
  if (!understood || !reply->ok()) {
    std::lock_guard lock(mutex_);
    ++(understood ? view_.refused : view_.failed);
  }
  if (!reply) return fail(reply.error().message());
  if (!understood) return fail("the manager at '" + address_ + "': " + understood.error().message());
  if (reply->ok()) return accept(*ready);
  fail("the manager at '" + address_ + "' refuses the report: " + kube::describe(kube::status_of(*reply)),
       reply->retry_after);
}

void DirectReporter::accept(const Ready& ready) {
  accepted_ = ready.body.after;
  was_accepted_ = true;
  backoff_.succeeded();
  failing_since_.reset();
  const Time now = parts_.clock.now();
  {
    std::lock_guard lock(mutex_);
    ++(ready.body.is_patch ? view_.unchanged : view_.whole);
    view_.accepted = now;
  }
  note("");
  // The next report is scheduled from the start of this one, so the response time does not extend the period.
  step_in(std::max<Duration>(begun_ + options_.period - now, options_.period / 10));
}

void DirectReporter::fail(std::string problem, std::optional<Duration> retry_after) {
  accepted_ = nullptr;
  knows_leader_ = false;
  note(problem);
  step_in(wait_after_failure(retry_after));
}

Duration DirectReporter::wait_after_failure(std::optional<Duration> retry_after) {
  const Time now = parts_.clock.now();
  if (!failing_since_) failing_since_ = now;
  const Duration longer = backoff_.failed(std::min(retry_after.value_or(Duration::zero()), kLongestWait));
  if (now - *failing_since_ >= kShortOutage) return longer;
  const Duration asked = std::min(retry_after.value_or(Duration::zero()), kLongestWait);
  return std::max(asked, std::min(longer, backoff_.random().between(pace() / 2, pace())));
}

void DirectReporter::note(const std::string& problem) {
  {
    std::lock_guard lock(mutex_);
    view_.problem = problem;
  }
  const auto change = problems_.update("manager", problem.empty() ? "" : "failing", parts_.clock.now());
  if (change == ProblemTracker::Change::begun)
    log::warn(report_log, "no direct report: {}; trying again, other reports go on", problem);
  if (change == ProblemTracker::Change::over)
    log::info(report_log, "the manager at '{}' accepts direct reports again", address_);
}

DirectReporter::View DirectReporter::view() const {
  std::lock_guard lock(mutex_);
  return view_;
}

bool DirectReporter::is_fresh() const {
  std::lock_guard lock(mutex_);
  return view_.accepted && parts_.clock.now() - *view_.accepted <= kPeriodsFresh * options_.period;
}

}  // namespace koord::report
