// SPDX-License-Identifier: Apache-2.0
#include "core/manager/election.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace koord::manager {
namespace {

// A longer duration in the record is a mistake of a different program, or an attempt to keep the lease permanently. It
// is treated as this duration.
constexpr Duration kLongestLease = std::chrono::minutes(5);

// The duration that a holder writes when it releases the lease, the same as client-go's.
constexpr Duration kGivenUp = std::chrono::seconds(1);

}  // namespace

Election::Election(std::string identity, const LeaseTiming& timing, Time now, std::uint64_t seed)
    : identity_(std::move(identity)), timing_(timing), random_(seed), due_(now) {}

// Returns whether the holder itself has released the lease, after it stopped leading. The short duration shows this. If
// a different client has cleared the holder, the holder may not know this yet and still lead.
bool Election::is_given_up() const { return known_ && known_->holder.empty() && known_->duration <= kGivenUp; }

// Returns when the lease may be taken from a different replica.
Time Election::free_at() const {
  const Duration of_holder = std::min(known_->duration, kLongestLease);
  return later(seen_, std::max(timing_.lease, of_holder));
}

Election::Step Election::begin(Step::Do what, Time now, LeaseRecord record) {
  is_busy_ = true;
  began_ = now;
  return {what, now, timing_.renew / 2, std::move(record)};
}

LeaseRecord Election::claim(std::int64_t wall_ns) const {
  LeaseRecord record = known_.value_or(LeaseRecord{});
  record.renewed = format_micro_time(wall_ns);
  record.duration = timing_.lease;
  if (record.holder == identity_) return record;
  // The API has 32 bits for it, and refuses more.
  if (known_ && record.transitions < std::numeric_limits<std::int32_t>::max()) ++record.transitions;
  record.holder = identity_;
  record.acquired = record.renewed;
  return record;
}

Election::Step Election::next_release(Time now, std::int64_t wall_ns) {
  if (phase_ == Phase::released || !holds() || must_read_) {
    phase_ = Phase::released;
    return {Step::Do::wait, Time::max(), {}, {}};
  }
  LeaseRecord record = claim(wall_ns);
  record.holder.clear();
  record.duration = kGivenUp;
  is_last_ = true;
  return begin(Step::Do::write, now, std::move(record));
}

// Records the end of a request. Returns false if the caller must ignore the result, because this replica has released
// the lease.
bool Election::end_request() {
  is_busy_ = is_creating_ = false;
  if (is_last_) phase_ = Phase::released;
  return phase_ == Phase::running;
}

Election::Step Election::next(Time now, std::int64_t wall_ns) {
  if (is_busy_) return {Step::Do::wait, Time::max(), {}, {}};
  if (phase_ != Phase::running) return next_release(now, wall_ns);
  if (now < due_) return {Step::Do::wait, due_, {}, {}};
  if (must_read_) return begin(Step::Do::read, now);
  const bool is_free = is_missing_ || holds() || is_given_up() || now >= free_at();
  // The read shows whether the record has changed.
  if (!is_free) return begin(Step::Do::read, now);
  is_creating_ = is_missing_;
  return begin(Step::Do::write, now, claim(wall_ns));
}

// `now` is the time of the response, not of the request, because the record may have changed in between.
void Election::observe(Time now, LeaseRecord record) {
  const bool changed = !known_ || known_->resource_version != record.resource_version ||
                       known_->holder != record.holder || known_->renewed != record.renewed;
  if (changed) seen_ = now;
  known_ = std::move(record);
  is_missing_ = false;
  if (!holds() || !std::exchange(may_have_created_, false)) return;
  leads_from_ = later(now, timing_.lease);
}

void Election::read(Time now, std::optional<LeaseRecord> record) {
  if (!end_request()) return;
  must_read_ = false;
  if (!record) {
    is_missing_ = true;
    known_.reset();
    leads_until_ = Time::min();
    due_ = now;
    return;
  }
  observe(now, *std::move(record));
  if (!holds()) leads_until_ = Time::min();
  due_ = holds() || is_given_up() ? now : std::min(later(now, timing_.retry), free_at());
}

void Election::written(Time now, LeaseRecord as_stored) {
  if (is_last_) return void(end_request());
  may_have_created_ = may_have_created_ || is_creating_;
  observe(now, std::move(as_stored));
  if (!end_request()) return;
  if (holds()) leads_until_ = later(began_, timing_.renew);
  due_ = later(began_, timing_.retry);
}

void Election::conflicted(Time now) {
  end_request();
  must_read_ = true;
  due_ = now + random_.between(Duration::zero(), timing_.retry / 4);
}

void Election::failed(Time now) {
  may_have_created_ = may_have_created_ || is_creating_;
  end_request();
  must_read_ = true;
  due_ = now + timing_.retry / 2 + random_.between(Duration::zero(), timing_.retry / 2);
}

void Election::release() {
  if (phase_ == Phase::running) phase_ = Phase::releasing;
  leads_until_ = Time::min();
}

}  // namespace koord::manager
