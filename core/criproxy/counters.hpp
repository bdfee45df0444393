// SPDX-License-Identifier: Apache-2.0
// Counters: numbers of calls and questions, as text for Prometheus. [any thread]
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace koord::criproxy {

enum class HookResult { changed, unchanged, rejected, failed };
enum class HookSource { agent, hook_server };
// The reason why a call passed without the hooks that apply to it.
enum class Unhooked { overload, unknown, unreadable, skipped, too_large };

class Counters {
 public:
  void call_begun() { ++in_flight_; }
  void call_ended(int status);  // status of gRPC
  void hook_asked(HookSource source, HookResult result, double seconds);
  void passed_unhooked(Unhooked reason) { ++unhooked_[static_cast<std::size_t>(reason)]; }
  void checkpoint_damaged() { ++damaged_; }
  void checkpoint_unwritten() { ++unwritten_; }

  std::uint64_t unhooked(Unhooked reason) const { return unhooked_[static_cast<std::size_t>(reason)]; }
  std::uint64_t asked(HookSource source, HookResult result) const;

  std::string text() const;

 private:
  static constexpr std::size_t kStatuses = 18;  // codes 0 to 16, and one place for other codes
  std::atomic<std::int64_t> in_flight_ = 0;
  std::array<std::atomic<std::uint64_t>, kStatuses> calls_{};
  std::array<std::array<std::atomic<std::uint64_t>, 4>, 2> asked_{};
  std::array<std::atomic<double>, 2> seconds_{};
  std::array<std::atomic<std::uint64_t>, 5> unhooked_{};
  std::atomic<std::uint64_t> damaged_ = 0, unwritten_ = 0;
};

}  // namespace koord::criproxy
