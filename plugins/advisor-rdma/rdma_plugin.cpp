// SPDX-License-Identifier: Apache-2.0
// advisor-rdma: reports RDMA devices as a fact, and the traffic of their ports.
#include <utility>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-rdma/rdma_files.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/node/live_series.hpp"

namespace {

using namespace std::chrono_literals;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::Metric;
using koord::rdma::Port;

constexpr std::uint64_t kListPeriodNs = std::chrono::nanoseconds(60s).count();

class Rdma final : public koord::plugin::Advisor {
 public:
  void init() override {
    roots_ = koord::node::roots_of(host());
    names_ = koord::rdma::device_names(roots_.sys);
    if (names_.empty())
      throw Failure(KOORD_E_UNSUPPORTED, "no RDMA devices: '" + roots_.sys + "/class/infiniband' has none");
    fact_ = {host(), "RDMA"};
    series_ = koord::node::LiveSeries(host());
    batch_ = Batch(host());
    active_ = define({"rdma_port_active", "", "1 when the port's link is up and can be used, else 0."});
    received_bytes_ = counter("receive_bytes", "bytes", "Bytes received by a port");
    sent_bytes_ = counter("transmit_bytes", "bytes", "Bytes sent by a port");
    received_packets_ = counter("receive_packets", "packets", "Packets received by a port");
    sent_packets_ = counter("transmit_packets", "packets", "Packets sent by a port");
    receive_errors_ = counter("receive_errors", "packets", "Broken packets received by a port");
    send_discards_ =
        counter("transmit_discards", "packets", "Packets that a port did not send, as it was down or congested");
    link_downs_ = counter("link_downs", "times", "How often a port's link went down");
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    std::optional<Failure> failure;
    try {
      if (listed_ns_ == 0 || now_ns >= listed_ns_ + kListPeriodNs) list_devices(now_ns);
    } catch (const Failure& failed) {
      failure = failed;
    }
    for (const std::string& name : names_) {
      for (const Port& port : koord::rdma::read_ports(roots_.sys, name)) add(port);
    }
    series_.end_others();
    batch_.send(now_ns);
    if (failure) throw Failure(*failure);
  }

 private:
  Metric counter(const std::string& what, std::string_view unit, const std::string& help) const {
    const std::string name = "rdma_port_" + what + "_total", text = help + ".";
    return define({name, unit, text, 1, KOORD_COUNTER});
  }

  void list_devices(std::uint64_t now_ns) {
    names_ = koord::rdma::device_names(roots_.sys);
    fact_.put(koord::rdma::devices_json(koord::rdma::read_devices(roots_.sys, names_)));
    listed_ns_ = now_ns;
  }

  void add(const Port& port) {
    add(port, "active", active_, port.is_active);
    add(port, "receive_bytes", received_bytes_, port.received_bytes);
    add(port, "transmit_bytes", sent_bytes_, port.sent_bytes);
    add(port, "receive_packets", received_packets_, port.received_packets);
    add(port, "transmit_packets", sent_packets_, port.sent_packets);
    add(port, "receive_errors", receive_errors_, port.receive_errors);
    add(port, "transmit_discards", send_discards_, port.send_discards);
    add(port, "link_downs", link_downs_, port.link_downs);
  }

  void add(const Port& port, const char* what, const Metric& metric, std::optional<std::uint64_t> value) {
    if (!value) return;
    const std::uint64_t series = series_.of(port.device + " " + port.port + " " + what, [&] {
      return metric.series(KOORD_NO_SUBJECT, {{"device", port.device}, {"port", port.port}});
    });
    batch_.add(series, static_cast<double>(*value));
  }

  koord::NodeRoots roots_;
  std::vector<std::string> names_;
  std::uint64_t listed_ns_ = 0;
  koord::node::Fact fact_;
  koord::node::LiveSeries series_;
  Metric active_, received_bytes_, sent_bytes_, received_packets_, sent_packets_, receive_errors_, send_discards_,
      link_downs_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-rdma\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=RDMADevices\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.fs/1,koord.kv/1\nlicense=Apache-2.0\n"
             "description=RDMA devices and the traffic of their ports\n",
             koord::plugin::advisor<Rdma>("rdma", 10s))
