// SPDX-License-Identifier: Apache-2.0
// The smallest useful plugin: the load average of the node, once a second.
#include <cstdlib>
#include <koordetector/plugin.hpp>

struct Hello : koord::plugin::Advisor {
  void init() override { load_ = define({"load1", "", "load average of one minute", 0.01}).series(); }
  void collect(std::uint64_t now_ns, std::uint64_t /*deadline_ns*/) override {
    double load = 0;
    if (getloadavg(&load, 1) != 1) throw koord::plugin::Failure(KOORD_E_UNSUPPORTED, "no load average here");
    koord::plugin::Batch batch(host());
    batch.add(load_, load);
    batch.send(now_ns);
  }
  std::uint64_t load_ = 0;
};
KOORD_PLUGIN("id=org.example.hello\nversion=1.0.0\nkinds=koord.advisor/1\ngate=Hello\nrequires=koord.metrics/1\n",
             koord::plugin::advisor<Hello>("hello", std::chrono::seconds(1)))
