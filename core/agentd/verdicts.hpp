// SPDX-License-Identifier: Apache-2.0
// VerdictModule: ends current verdicts when their victims end, and when their plugins have not posted them again in
// time. [loop thread]
#pragma once

#include <memory>

#include "core/agentd/services.hpp"
#include "core/event/timer.hpp"

namespace koord::agentd {

class VerdictModule {
 public:
  explicit VerdictModule(const Services& services);
  ~VerdictModule();
  VerdictModule(const VerdictModule&) = delete;
  VerdictModule& operator=(const VerdictModule&) = delete;

  void start();
  void stop() { timer_.reset(); }

 private:
  const Services& services_;
  std::uint64_t subscription_;
  std::unique_ptr<event::Timer> timer_;
};

}  // namespace koord::agentd
