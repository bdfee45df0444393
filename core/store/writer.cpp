// SPDX-License-Identifier: Apache-2.0
#include "core/store/writer.hpp"

#include <algorithm>
#include <limits>

namespace koord::store {
namespace {

using namespace std::chrono_literals;

constexpr auto kFirstBackoff = 1s;
constexpr auto kLongestBackoff = 30s;
// Rows younger than this may still get values from a different batch of the same time.
constexpr std::int64_t kOpenRowMs = 1000;

}  // namespace

Writer::Writer(const Options& options, State& state, ChunkSource& source, const Clock& clock)
    : options_(options), state_(state), source_(source), clock_(clock), backoff_(kFirstBackoff) {}

Writer::~Writer() {
  if (thread_.joinable()) {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
}

std::string Writer::open() {
  if (options_.path.empty()) return {};
  std::string report = attach();
  if (disk_) write(take_batch());
  return report;
}

void Writer::start() {
  thread_ = std::thread([this] { run(); });
}

void Writer::flush() {
  std::unique_lock lock(mutex_);
  std::uint64_t round = rounds_begun_ + 1;
  wanted_ = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return rounds_done_ >= round || stop_; });
}

void Writer::run() {
  std::unique_lock lock(mutex_);
  for (bool last = false; !last;) {
    changed_.wait_for(lock, options_.journal_period, [&] { return wanted_ || stop_; });
    last = stop_;
    wanted_ = false;
    std::uint64_t this_round = ++rounds_begun_;
    lock.unlock();
    round(last);
    lock.lock();
    rounds_done_ = this_round;
    changed_.notify_all();
  }
}

void Writer::round(bool last) {
  if (!options_.path.empty() && !disk_ && Steady::now() >= next_attempt_) attach();
  seal_due(last || std::exchange(seal_everything_, false));
  if (disk_) {
    write(take_batch());
  } else {
    drop_changes();
  }
  if (Steady::now() >= next_bounds_) keep_bounds();
  if (last) disk_.reset();
}

std::string Writer::attach() {
  Loaded loaded;
  Result<std::unique_ptr<Disk>> disk =
      Disk::open(options_.path, options_.max_bytes, clock_.wall_ns(), file_id_, loaded);
  if (!disk) {
    lose_disk(disk.error());
    return "'" + options_.path + "' cannot be written, keeping samples in memory: " + disk.error().message() + "\n";
  }
  disk_ = std::move(*disk);
  source_.use(options_.path);
  adopt(loaded);
  seal_everything_ = true;  // the rings contain samples that are missing in the journal
  return loaded.report;
}

void Writer::adopt(Loaded& loaded) {
  std::lock_guard lock(state_.mutex);
  state_.chunks = std::move(loaded.chunks);
  for (auto& [key, value] : loaded.values) state_.values.load(key, std::move(value));
  if (file_id_ != loaded.file_id) state_.renumber(std::move(loaded.catalogue));
  file_id_ = loaded.file_id;
  state_.head.catalogue().mark_all_changed();
  state_.values.mark_all_changed();
}

// Ends memory mode, after a successful transaction, because nothing else proves that the disk works again.
void Writer::confirm_disk() {
  backoff_ = kFirstBackoff;
  std::lock_guard lock(state_.mutex);
  state_.stats.mode = Mode::disk;
  state_.stats.reason.clear();
}

void Writer::set_memory_mode(const std::string& reason) {
  std::lock_guard lock(state_.mutex);
  state_.stats.mode = Mode::memory;
  state_.stats.reason = reason;
  state_.head.journal().break_off();
}

// Closes the file. A damaged file is replaced in the next round; after other errors, such as a full disk, the next
// attempt is later.
void Writer::lose_disk(const Error& error) {
  disk_.reset();
  set_memory_mode(error.message());
  bool damaged = error.is(std::errc::bad_message);
  next_attempt_ = damaged ? Steady::time_point{} : Steady::now() + backoff_;
  backoff_ = std::min<Steady::duration>(backoff_ * 2, kLongestBackoff);
}

void Writer::seal_due(bool all) {
  std::int64_t now_ms = to_ms(clock_.now());
  std::vector<Head::DueGroup> due;
  {
    std::lock_guard lock(state_.mutex);
    due = state_.head.due_groups(now_ms, all);
  }
  std::int64_t until_ms = all ? std::numeric_limits<std::int64_t>::max() : now_ms - kOpenRowMs;
  for (const Head::DueGroup& group : due) {
    ChunkRows rows;
    std::uint64_t lost = 0;
    {
      std::lock_guard lock(state_.mutex);
      rows = group.lane->seal(*group.group, until_ms, lost);
    }
    SealedChunkPtr chunk = rows.series.empty() ? nullptr : make_sealed(group.lane->metric(), rows);
    std::lock_guard lock(state_.mutex);
    if (chunk) lost += state_.pending.add(std::move(chunk));
    if (!options_.path.empty()) state_.stats.dropped_samples += lost;
    state_.head.release_ended(group);
  }
}

Batch Writer::take_batch() {
  std::lock_guard lock(state_.mutex);
  Catalogue& catalogue = state_.head.catalogue();
  Batch batch;
  for (MetricId id : catalogue.take_changed_metrics()) {
    const Metric& metric = catalogue.metric_of(id);
    batch.metrics.push_back({id, metric.name, metric.unit, metric.resolution});
  }
  for (SeriesId id : catalogue.take_changed_series()) {
    if (const Identity* identity = catalogue.find(id))
      batch.series.push_back({id, identity->metric, identity->labels(), identity->ended_ms()});
  }
  batch.chunks.assign(state_.pending.all().begin(), state_.pending.all().end());
  batch.values = state_.values.take_changes();
  std::tie(batch.journal, batch.journal_newest_ms) = state_.head.journal().take();
  batch.oldest_unsealed_ms = state_.head.oldest_unsealed_ms();
  return batch;
}

void Writer::write(const Batch& batch) {
  if (batch.empty()) return confirm_disk();
  Result<std::int64_t> first = disk_->write(batch);
  if (!first) {
    std::unique_lock lock(state_.mutex);
    state_.values.restore(batch.values);
    lock.unlock();
    return lose_disk(first.error());
  }
  confirm_disk();
  std::int64_t rowid = *first;
  std::lock_guard lock(state_.mutex);
  for (const SealedChunkPtr& chunk : batch.chunks) {
    ChunkRef place = chunk->place;
    place.rowid = rowid++;
    state_.chunks.add(chunk->metric, place);
  }
  state_.pending.remove_written(batch.chunks.size());
  state_.stats.last_flush = clock_.now();
}

// Drops the changes while no file exists. A new file gets everything.
void Writer::drop_changes() {
  std::lock_guard lock(state_.mutex);
  state_.head.catalogue().take_changed_metrics();
  state_.head.catalogue().take_changed_series();
  state_.head.journal().take();
}

}  // namespace koord::store
