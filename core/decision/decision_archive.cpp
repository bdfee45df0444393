// SPDX-License-Identifier: Apache-2.0
#include "core/decision/decision_archive.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/decision/decision_file.hpp"

namespace koord::decision {

DecisionArchive::DecisionArchive(Options options, const Clock& clock) : options_(std::move(options)), clock_(clock) {
  if (::access(options_.path.c_str(), F_OK) == 0) {
    if (Result<void> opened = open(); !opened) status_.problem = opened.error().message();
    if (file_) last_number_ = file_->last_number().value_or(0);
  }
  thread_ = std::thread([this] { run(); });
}

DecisionArchive::~DecisionArchive() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  thread_.join();
  write();
}

void DecisionArchive::add(Decision decision) {
  bool was_empty = false;
  {
    std::lock_guard lock(mutex_);
    was_empty = waiting_.empty();
    waiting_.push_back(std::move(decision));
    if (waiting_.size() > kMostWaiting) {
      waiting_.pop_front();
      ++status_.dropped;
    }
  }
  if (was_empty) wake_.notify_all();
}

void DecisionArchive::run() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    wake_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    // Waits, so that decisions collect into a batch.
    wake_.wait_for(lock, status_.problem.empty() ? options_.period : options_.retry, [this] { return ends_; });
    if (ends_) return;
    lock.unlock();
    write();
    lock.lock();
  }
}

void DecisionArchive::write() {
  std::lock_guard file_lock(file_mutex_);
  const Result<void> written = write_batch();
  const std::uint64_t bytes = file_ ? file_->bytes().value_or(0) : 0;
  std::lock_guard lock(mutex_);
  status_.problem = written ? std::string() : written.error().message();
  status_.bytes = bytes;
}

Result<void> DecisionArchive::write_batch() {
  std::vector<Decision> batch;
  {
    std::lock_guard lock(mutex_);
    batch.assign(waiting_.begin(), waiting_.end());
  }
  if (batch.empty()) return {};
  if (!file_) TRY(open());
  Result<void> written = file_->write(batch);
  if (!written) {
    file_.reset();  // the next open() checks the file again
    return written;
  }
  const std::uint64_t last = batch.back().number;
  std::lock_guard lock(mutex_);
  while (!waiting_.empty() && waiting_.front().number <= last) waiting_.pop_front();
  return {};
}

Result<void> DecisionArchive::open() {
  std::string set_aside_note;
  file_ = TRY(DecisionFile::open(options_.path, options_.max_bytes, clock_.wall_ns(), set_aside_note));
  if (set_aside_note.empty()) return {};
  std::lock_guard lock(mutex_);
  status_.set_aside_note = std::move(set_aside_note);
  return {};
}

Result<DecisionPage> DecisionArchive::find(const DecisionQuery& query) {
  write();
  std::lock_guard lock(file_mutex_);
  if (const std::string problem = status().problem; !problem.empty()) return invalid(problem);
  if (!file_ && ::access(options_.path.c_str(), F_OK) == 0) TRY(open());
  return file_ ? file_->find(query) : Result<DecisionPage>(DecisionPage{});
}

DecisionArchive::Status DecisionArchive::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

}  // namespace koord::decision
