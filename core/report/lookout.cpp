// SPDX-License-Identifier: Apache-2.0
#include "core/report/lookout.hpp"

#include <utility>

namespace koord::report {

Lookout::Lookout(event::Loop& loop, event::WorkerPool& workers, std::string name, Duration period, Find find)
    : loop_(loop), period_(period), find_(std::move(find)), strand_(workers, std::move(name)) {}

void Lookout::start() {
  timer_ = loop_.every(period_, [this] { look(); });
  look();
}

void Lookout::stop() {
  timer_.reset();
  *alive_ = false;
}

void Lookout::look() {
  if (looking_) return;
  looking_ = strand_.post([this, alive = alive_] {
    loop_.post([this, alive, act = find_()] {
      if (!*alive) return;
      looking_ = false;
      act();
    });
  });
}

}  // namespace koord::report
