// SPDX-License-Identifier: Apache-2.0
// BigAnswer: an endpoint on loopback with answers that are expensive to parse. Paths:
//   /big      as many bytes and samples as an agent accepts by default
//   /stalled  15 MiB of a longer answer, then no more bytes
//   /dense    1 MiB with the shortest possible names
// It does not answer before begin().
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "core/base/unique_fd.hpp"

namespace koord::hostile {

class BigAnswer {
 public:
  BigAnswer();
  ~BigAnswer();
  BigAnswer(const BigAnswer&) = delete;
  BigAnswer& operator=(const BigAnswer&) = delete;

  std::string url() const { return url_; }  // without a path
  void begin() { begun_ = true; }

 private:
  void serve() const;
  const std::string& answer_to(std::string_view request) const;

  UniqueFd listener_;
  std::string url_;
  const std::string big_, stalled_, dense_, none_;
  std::atomic<bool> begun_ = false;
  std::thread server_;
};

}  // namespace koord::hostile
