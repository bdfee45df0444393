// SPDX-License-Identifier: Apache-2.0
// ReviewBudget: the number of questions that a client, and all clients together, may put to the API server without a
// yes. A question costs one when it is asked. A yes refunds it. A no is regained with time only. Without an answer it
// is refunded to all, but not to the client, which may not ask a failing server as often as it likes. Pure: the time is
// passed in. [one thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/base/clock.hpp"

namespace koord::kubeauth {

class ReviewBudget {
 public:
  struct Limits {
    double of_client = 10, of_client_per_second = 1;
    double of_all = 32, of_all_per_second = 5;
    std::size_t clients = 1024;  // with a budget of their own at one time; further ones share one
  };

  explicit ReviewBudget(const Limits& limits) : limits_(limits), all_(limits.of_all) {}

  enum class Answer : std::uint8_t { yes, no, none };

  // Returns the payer for end(); nullopt: the budget of the client, or that of all, is used up.
  // `client`: any name; an empty one shares the budget of those without their own.
  std::optional<std::string> take(std::string client, Time now);
  void end(const std::string& payer, Answer answer, Time now);
  // The budget of all is used up.
  bool is_used_up(Time now);

  // With a budget that is not whole.
  std::size_t clients() const { return clients_.size(); }

 private:
  struct Bucket {
    explicit Bucket(double whole) : left(whole) {}

    double left;
    Time filled = Time::min();
  };
  void refund(const std::string& payer, Time now);
  static void fill(Bucket& bucket, Time now, double whole, double per_second);
  void drop_whole(Time now);

  const Limits limits_;
  Bucket all_;
  std::map<std::string, Bucket> clients_;
  Time next_drop_ = Time::min();
};

}  // namespace koord::kubeauth
