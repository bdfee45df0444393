// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/store.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace koord::verdict {
namespace {

const Limits& limits_of(Origin origin) { return origin == Origin::own ? kOwnLimits : kThirdPartyLimits; }

bool names_the_same(const Suspect& a, const Suspect& b) {
  return a.kind == b.kind && a.subject.handle == b.subject.handle && a.name == b.name;
}

// Returns whether the method or the suspects differ. The order of suspects does not count, because it follows their
// values.
bool differs(const Record& a, const Record& b) {
  return a.method != b.method || !std::is_permutation(a.suspects.begin(), a.suspects.end(), b.suspects.begin(),
                                                      b.suspects.end(), names_the_same);
}

// Copies labels and names of suspects that have ended since the previous post.
void keep_names(const Record& before, Record& record) {
  for (Suspect& suspect : record.suspects) {
    if (suspect.kind != SuspectKind::subject || !suspect.subject.labels.empty()) continue;
    const auto known = std::find_if(before.suspects.begin(), before.suspects.end(), [&](const Suspect& other) {
      return other.subject.handle == suspect.subject.handle;
    });
    if (known == before.suspects.end() || known->subject.labels.empty()) continue;
    suspect.subject = known->subject;
    suspect.name = known->name;
  }
}

bool takes(const Query& query, const Record& record) {
  if (query.victim && record.victim.handle != *query.victim) return false;
  if (query.resource && record.resource != *query.resource) return false;
  if (query.kind && record.kind != *query.kind) return false;
  if (query.from && record.ended && *record.ended < *query.from) return false;
  return !query.to || record.since <= *query.to;
}

Error over_limit(std::string text) {
  return Error{std::make_error_code(std::errc::resource_unavailable_try_again), std::move(text)};
}

// Returns the last record of each key.
std::vector<Record> one_of_each_key(std::vector<Record> records) {
  std::set<Key> seen;
  std::vector<Record> last;
  for (auto record = records.rbegin(); record != records.rend(); ++record)
    if (seen.insert(record->key()).second) last.push_back(std::move(*record));
  std::reverse(last.begin(), last.end());
  return last;
}

}  // namespace

Result<void> Store::post(Time now, const Source& source, std::vector<Record> records) {
  records = one_of_each_key(std::move(records));
  for (Record& record : records) {
    record.plugin = source.plugin;
    record.origin = source.origin;
    record.session = source.session;
    record.posted = record.since = now;
    record.ended.reset();
  }
  bool changed = false;
  {
    std::lock_guard lock(mutex_);
    if (closed_sessions_.contains(source.session))
      return Error{std::make_error_code(std::errc::operation_canceled), "its plugin has been abandoned"};
    OfPlugin& of_plugin = plugins_[source.plugin];
    TRY(check_limits(of_plugin, source, records));
    for (Record& record : records) changed |= replace(of_plugin, std::make_shared<Record>(std::move(record)));
    posted_ += records.size();
    if (changed) ++generation_;
    if (!records.empty()) outdate();
  }
  notify(changed);
  return {};
}

Result<void> Store::check_limits(const OfPlugin& of_plugin, const Source& source,
                                 const std::vector<Record>& records) const {
  std::size_t n = of_plugin.standing.size(), added = 0, removed = 0;
  for (const Record& record : records) {
    added += bytes_of(record);
    const auto before = of_plugin.standing.find(record.key());
    if (before == of_plugin.standing.end())
      ++n;
    else
      removed += bytes_of(*before->second);
  }
  const Limits& limits = limits_of(source.origin);
  if (n > limits.standing)
    return over_limit("it has more than " + std::to_string(limits.standing) + " standing verdicts");
  if (of_plugin.standing_bytes + added - removed > limits.standing_bytes)
    return over_limit("its standing verdicts have more than " + std::to_string(limits.standing_bytes) + " bytes");
  if (standing_bytes_ + added - removed > kMaxStandingBytes)
    return over_limit("the standing verdicts of all plugins have more than " + std::to_string(kMaxStandingBytes) +
                      " bytes");
  return {};
}

void Store::outdate() {
  ++version_;
  standing_.reset();
}

// Returns whether the generation must change.
bool Store::replace(OfPlugin& of_plugin, std::shared_ptr<Record> record) {
  RecordPtr& slot = of_plugin.standing[record->key()];
  if (slot) keep_names(*slot, *record);
  count(of_plugin, *record);
  bool changed = true;
  if (slot) {
    record->id = slot->id;
    record->since = slot->since;
    changed = differs(*slot, *record);
    uncount(of_plugin, *slot);
  } else {
    record->id = ++last_id_;
  }
  slot = std::move(record);
  return changed;
}

void Store::count(OfPlugin& of_plugin, const Record& record) {
  of_plugin.standing_bytes += bytes_of(record);
  standing_bytes_ += bytes_of(record);
}

void Store::uncount(OfPlugin& of_plugin, const Record& record) {
  of_plugin.standing_bytes -= bytes_of(record);
  standing_bytes_ -= bytes_of(record);
}

bool Store::end(Time now, std::string_view plugin, const Key& key, std::string why) {
  {
    std::lock_guard lock(mutex_);
    const auto of_plugin = plugins_.find(plugin);
    if (of_plugin == plugins_.end()) return false;
    const auto standing = of_plugin->second.standing.find(key);
    if (standing == of_plugin->second.standing.end()) return false;
    end_one(now, of_plugin->second, standing->second, std::move(why));
    of_plugin->second.standing.erase(standing);
    ++generation_;
    outdate();
  }
  notify(true);
  return true;
}

std::size_t Store::close_session(Time now, std::string_view plugin, std::uint64_t session, std::string_view why) {
  {
    std::lock_guard lock(mutex_);
    closed_sessions_.insert(session);
  }
  return end_of_session(now, plugin, session, why);
}

std::size_t Store::end_session(Time now, std::string_view plugin, std::uint64_t session, std::string_view why) {
  {
    std::lock_guard lock(mutex_);
    closed_sessions_.erase(session);
  }
  return end_of_session(now, plugin, session, why);
}

std::size_t Store::end_of_session(Time now, std::string_view plugin, std::uint64_t session, std::string_view why) {
  return end_matching(now, why,
                      [&](const Record& record) { return record.session == session && record.plugin == plugin; });
}

std::size_t Store::end_all_about(Time now, std::uint64_t victim, std::string_view why) {
  return end_matching(now, why, [&](const Record& record) { return record.victim.handle == victim; });
}

std::size_t Store::expire(Time now) {
  return end_matching(now, "its plugin did not post it again in time",
                      [&](const Record& record) { return later(record.posted, record.ttl) <= now; });
}

template <class Matches>
std::size_t Store::end_matching(Time now, std::string_view why, const Matches& matches) {
  std::size_t n = 0;
  {
    std::lock_guard lock(mutex_);
    for (auto& [id, of_plugin] : plugins_) {
      for (auto standing = of_plugin.standing.begin(); standing != of_plugin.standing.end();) {
        if (!matches(*standing->second)) {
          ++standing;
          continue;
        }
        end_one(now, of_plugin, standing->second, std::string(why));
        standing = of_plugin.standing.erase(standing);
        ++n;
      }
    }
    if (n > 0) {
      ++generation_;
      outdate();
    }
  }
  notify(n > 0);
  return n;
}

void Store::end_one(Time now, OfPlugin& of_plugin, const RecordPtr& record, std::string why) {
  uncount(of_plugin, *record);
  auto ended = std::make_shared<Record>(*record);
  ended->ended = now;
  ended->why_ended = std::move(why);
  keep_ended(of_plugin, std::move(ended));
}

void Store::keep_ended(OfPlugin& of_plugin, RecordPtr ended) {
  const Limits& limits = limits_of(ended->origin);
  of_plugin.ended_bytes += bytes_of(*ended);
  of_plugin.ended.push_back(std::move(ended));
  while (of_plugin.ended.size() > limits.ended || of_plugin.ended_bytes > limits.ended_bytes) {
    of_plugin.ended_bytes -= bytes_of(*of_plugin.ended.front());
    of_plugin.ended.pop_front();
  }
}

std::shared_ptr<const CurrentVerdicts> Store::standing() const {
  std::lock_guard lock(mutex_);
  if (standing_) return standing_;
  auto standing = std::make_shared<CurrentVerdicts>();
  standing->generation = generation_;
  standing->version = version_;
  for (const auto& [id, of_plugin] : plugins_)
    for (const auto& [key, record] : of_plugin.standing) standing->records.push_back(record);
  std::sort(standing->records.begin(), standing->records.end(),
            [](const RecordPtr& a, const RecordPtr& b) { return a->id < b->id; });
  standing_ = std::move(standing);
  return standing_;
}

std::vector<RecordPtr> Store::history(const Query& query) const {
  std::vector<RecordPtr> found;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, of_plugin] : plugins_) {
      for (const auto& [key, record] : of_plugin.standing)
        if (takes(query, *record)) found.push_back(record);
      for (const RecordPtr& record : of_plugin.ended)
        if (takes(query, *record)) found.push_back(record);
    }
  }
  std::sort(found.begin(), found.end(), [](const RecordPtr& a, const RecordPtr& b) { return a->id > b->id; });
  if (found.size() > query.most) found.resize(query.most);
  return found;
}

std::uint64_t Store::generation() const {
  std::lock_guard lock(mutex_);
  return generation_;
}

std::uint64_t Store::posted() const {
  std::lock_guard lock(mutex_);
  return posted_;
}

void Store::notify(bool changed) {
  if (!changed) return;
  std::lock_guard lock(subscribers_mutex_);
  const std::uint64_t now = generation();
  for (const auto& [id, on_change] : subscribers_) on_change(now);
}

std::uint64_t Store::subscribe(OnChange on_change) {
  std::lock_guard lock(subscribers_mutex_);
  subscribers_.emplace(++last_subscription_, std::move(on_change));
  return last_subscription_;
}

void Store::remove(std::uint64_t subscription) {
  std::lock_guard lock(subscribers_mutex_);
  subscribers_.erase(subscription);
}

}  // namespace koord::verdict
