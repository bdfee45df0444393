// SPDX-License-Identifier: Apache-2.0
#include "core/manager/leadership.hpp"

#include <utility>

#include "core/kube/refusal.hpp"
#include "core/kube/update.hpp"

namespace koord::manager {

struct Leadership::State {
  State(event::Loop& loop, const Clock& clock, kube::Client& client, Options options, std::function<void(bool)> change)
      : loop_(loop),
        clock_(clock),
        client_(client),
        options_(std::move(options)),
        on_change_(std::move(change)),
        election_(options_.identity, options_.timing, clock.now(), random_seed()) {
    step_in(Duration::zero());
  }

  bool leads() const { return election_.leads(clock_.now()); }

  void release(std::function<void()> done) {
    on_released_ = std::move(done);
    election_.release();
    report_change();
    step_in(Duration::zero());
  }

  const std::string& problem() const { return problem_; }
  const Election& election() const { return election_; }

 private:
  void step_in(Duration delay) {
    timer_ = loop_.after(delay, [this] { step(); });
  }

  void step() {
    report_change();
    Election::Step step = election_.next(clock_.now(), clock_.wall_ns());
    if (election_.is_released()) return end();
    switch (step.what) {
      case Election::Step::Do::wait:
        if (step.at != Time::max()) step_in(std::max(step.at - clock_.now(), Duration::zero()));
        return;
      case Election::Step::Do::read:
        return send(kube::get_call(options_.lease.collection(), options_.lease.name), step.timeout,
                    [this](const kube::Reply& reply) { take_read(reply); });
      case Election::Step::Do::write:
        return write(std::move(step));
    }
  }

  void write(Election::Step step) {
    if (options_.reserve) step.record.versions = options_.reserve(step.record.versions);
    Result<std::string> object = lease_json(options_.lease, step.record);
    if (!object) return fail(object.error().message());
    const bool creates = step.record.object.empty();
    kube::Call call =
        creates ? kube::create_call(options_.lease.collection(), *std::move(object))
                : kube::replace_call(options_.lease.collection(), options_.lease.name, *std::move(object), false);
    send(std::move(call), step.timeout, [this](const kube::Reply& reply) { take_written(reply); });
  }

  // The client starts its timeout when it sends the call, which it may delay if a server has asked it to wait.
  void send(kube::Call call, Duration timeout, std::function<void(const kube::Reply&)> take) {
    call.timeout = timeout;
    pending_ = client_.send(std::move(call), [this, take = std::move(take)](Result<kube::Reply> reply) {
      if (!reply) return fail(reply.error().message());
      take(*reply);
      step_in(Duration::zero());
    });
    timer_ = loop_.after(timeout, [this] { fail("no answer in time"); });
  }

  void take_read(const kube::Reply& reply) {
    if (reply.status == 404) return take(std::nullopt);
    if (!reply.ok()) return refused(reply);
    Result<LeaseRecord> record = parse_lease(reply.body);
    if (!record) return note_failure("the lease cannot be read: " + record.error().message());
    take(*std::move(record));
  }

  void take(std::optional<LeaseRecord> record) {
    problem_.clear();
    election_.read(clock_.now(), std::move(record));
  }

  void take_written(const kube::Reply& reply) {
    if (reply.status == 409) return election_.conflicted(clock_.now());
    if (!reply.ok()) return refused(reply);
    Result<LeaseRecord> record = parse_lease(reply.body);
    if (!record) return note_failure("the lease cannot be read: " + record.error().message());
    problem_.clear();
    if (options_.on_reserved && record->holder == options_.identity) options_.on_reserved(record->versions);
    election_.written(clock_.now(), *std::move(record));
  }

  void refused(const kube::Reply& reply) { note_failure(kube::describe(kube::status_of(reply))); }

  void note_failure(std::string problem) {
    problem_ = std::move(problem);
    election_.failed(clock_.now());
  }

  void fail(std::string problem) {
    pending_.reset();
    note_failure(std::move(problem));
    step_in(Duration::zero());
  }

  // Reports a change once. Schedules the next check for the time when the leadership ends unless it is renewed.
  void report_change() {
    const Time now = clock_.now();
    const bool leads = election_.leads(now);
    options_.time->set(leads ? election_.leads_until() : Time::min());
    if (leads) end_timer_ = loop_.after(election_.leads_until() - now, [this] { report_change(); });
    if (leads == reported_) return;
    reported_ = leads;
    on_change_(leads);
  }

  void end() {
    timer_.reset();
    if (auto done = std::exchange(on_released_, {})) done();
  }

  event::Loop& loop_;
  const Clock& clock_;
  kube::Client& client_;
  const Options options_;
  const std::function<void(bool)> on_change_;
  std::function<void()> on_released_;
  Election election_;
  bool reported_ = false;
  std::string problem_;
  std::unique_ptr<event::Timer> timer_, end_timer_;
  kube::Client::PendingPtr pending_;
};

Leadership::Leadership(event::Loop& loop, const Clock& clock, kube::Client& client, Options options,
                       std::function<void(bool leads)> on_change)
    : state_(std::make_unique<State>(loop, clock, client, std::move(options), std::move(on_change))) {}

Leadership::~Leadership() = default;

bool Leadership::leads() const { return state_->leads(); }
std::string Leadership::holder() const { return state_->election().holder(); }
std::int64_t Leadership::transitions() const { return state_->election().transitions(); }
const std::string& Leadership::problem() const { return state_->problem(); }
void Leadership::release(std::function<void()> done) { state_->release(std::move(done)); }

}  // namespace koord::manager
