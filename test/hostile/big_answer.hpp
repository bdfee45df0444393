// SPDX-License-Identifier: Apache-2.0
// BigAnswer: an endpoint on loopback that answers each request with as many bytes and samples as an agent reads by default.
#pragma once

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

  std::string url() const { return url_; }

 private:
  void serve() const;

  UniqueFd listener_;
  std::string url_, answer_;
  std::thread server_;
};

}  // namespace koord::hostile
