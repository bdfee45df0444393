// SPDX-License-Identifier: Apache-2.0
#include "core/log/capture.hpp"

#include <spdlog/sinks/base_sink.h>

#include <algorithm>
#include <mutex>

#include "core/log/output.hpp"

namespace koord::log {
namespace {

class LineCollector final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::vector<std::string> lines() {
    std::lock_guard lock(mutex_);
    return lines_;
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& entry) override {
    spdlog::memory_buf_t line;
    formatter_->format(entry, line);
    lines_.emplace_back(line.data(), line.size() - 1);
  }
  void flush_() override {}

 private:
  std::vector<std::string> lines_;
};

}  // namespace

struct Capture::State {
  std::shared_ptr<LineCollector> collector = std::make_shared<LineCollector>();
  OutputSettings before;
};

Capture::Capture(Level level, Format format) : state_(std::make_unique<State>()) {
  state_->before = exchange_output({level, format, state_->collector});
}

Capture::~Capture() { exchange_output(std::move(state_->before)); }

std::vector<std::string> Capture::lines() const { return state_->collector->lines(); }

bool Capture::contains(std::string_view part) const {
  const std::vector<std::string> all = lines();
  return std::any_of(all.begin(), all.end(),
                     [part](const std::string& line) { return line.find(part) != std::string::npos; });
}

}  // namespace koord::log
