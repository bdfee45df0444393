// SPDX-License-Identifier: Apache-2.0
// Election: one replica's part in leader election by a Lease. It says which request to send next, and whether this
// replica leads now. Pure: no I/O, the time is passed in; leadership.hpp runs one. Rules that keep two replicas from
// leading at the same time, whatever their clocks show:
//   - a holder leads until `renew` after the moment it BEGAN its last successful write;
//   - a replica takes the lease `lease` after it SAW the record change last, on its own clock, never by the holder's
//   times;
//   - a write names the version it was made from, so that one of two writers fails;
//   - the replica that creates the lease leads only `lease` later: someone may have deleted the lease of a leader.
// As renew < lease, a holder that cannot renew has stopped before a different replica may begin. [one thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/backoff.hpp"
#include "core/base/clock.hpp"
#include "core/manager/lease_record.hpp"

namespace koord::manager {

struct LeaseTiming {
  Duration lease = std::chrono::seconds(6);
  Duration renew = std::chrono::seconds(4);  // less than `lease`
  Duration retry = std::chrono::seconds(1);  // time between reads, and between renewals; less than half of `renew`
};

class Election {
 public:
  Election(std::string identity, const LeaseTiming& timing, Time now, std::uint64_t seed);

  // The next step; `read` and `write` begin with this call. The caller passes the result to one of the functions below
  // within `timeout`. Until it does, the next steps are `wait` without an end.
  struct Step {
    enum class Do : std::uint8_t { wait, read, write };
    Do what = Do::wait;
    Time at{};           // for `wait`: not before this time
    Duration timeout{};  // for `read` and `write`
    LeaseRecord record;  // for `write`; without `object` the lease is to be created
  };
  // `wall_ns`: for the times in the record, which are for people.
  Step next(Time now, std::int64_t wall_ns);

  void read(Time now, std::optional<LeaseRecord> record);  // nullopt: the lease does not exist
  void written(Time now, LeaseRecord as_stored);
  void conflicted(Time now);  // a different client has written or created it first
  void failed(Time now);      // no answer, or a different refusal; the write may have been done

  // Gives the lease up, so this replica no longer leads. The next step is a write that empties the holder, if it led.
  void release();
  bool is_released() const { return phase_ == Phase::released && !is_busy_; }  // nothing is left to be written

  bool leads(Time now) const { return now >= leads_from_ && now < leads_until_; }
  Time leads_until() const { return leads_until_; }
  // Returns the holder as read last; empty: none, or unknown.
  std::string holder() const { return known_ ? known_->holder : std::string(); }
  std::int64_t transitions() const { return known_ ? known_->transitions : 0; }

 private:
  enum class Phase : std::uint8_t { running, releasing, released };

  bool holds() const { return known_ && known_->holder == identity_; }
  bool is_given_up() const;
  Time free_at() const;
  Step begin(Step::Do what, Time now, LeaseRecord record = {});
  LeaseRecord claim(std::int64_t wall_ns) const;
  Step next_release(Time now, std::int64_t wall_ns);
  bool end_request();
  void observe(Time now, LeaseRecord record);

  const std::string identity_;
  const LeaseTiming timing_;
  RandomSource random_;
  Phase phase_ = Phase::running;
  std::optional<LeaseRecord> known_;  // as read last
  bool is_missing_ = false;           // the lease did not exist at the last read
  bool is_creating_ = false;          // the running request creates the lease
  bool may_have_created_ = false;     // the last request, or one without an answer, may have created it
  bool must_read_ = true;
  Time seen_{};  // when the record was seen to change
  bool is_busy_ = false;
  bool is_last_ = false;  // the running request gives the lease up
  Time began_{};          // when the running request began
  Time due_;
  Time leads_from_ = Time::min(), leads_until_ = Time::min();
};

}  // namespace koord::manager
