// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-network/network_series.hpp"

namespace koord::network {
namespace {

using plugin::Batch;
using plugin::Metric;

class Definer {
 public:
  Definer(const koord_host* host, std::string_view level, std::string_view owner)
      : host_(host), level_(level), owner_(owner) {}

  Metric counter(const std::string& what, std::string_view unit, const std::string& help) const {
    const std::string name = level_ + "_network_" + what + "_total", text = help + " " + owner_ + ".";
    return Metric(host_, {name, unit, text, 1, KOORD_COUNTER});
  }
  LevelMetrics::Direction direction(const std::string& name, const std::string& done) const {
    return {counter(name + "_bytes", "bytes", "Bytes " + done),
            counter(name + "_packets", "packets", "Packets " + done),
            counter(name + "_errors", "packets", "Broken packets " + done),
            counter(name + "_drops", "packets", "Packets dropped when " + done)};
  }

 private:
  const koord_host* host_;
  std::string level_, owner_;
};

void add(const Traffic& traffic, std::uint64_t bytes, std::uint64_t packets, std::uint64_t errors, std::uint64_t drops,
         Batch& batch) {
  batch.add(bytes, static_cast<double>(traffic.bytes));
  batch.add(packets, static_cast<double>(traffic.packets));
  batch.add(errors, static_cast<double>(traffic.errors));
  batch.add(drops, static_cast<double>(traffic.drops));
}

}  // namespace

LevelMetrics::LevelMetrics(const koord_host* host, std::string_view level, std::string_view owner) {
  const Definer define(host, level, owner);
  received = define.direction("receive", "received by");
  sent = define.direction("transmit", "sent by");
  segments_sent = define.counter("tcp_segments_sent", "segments", "TCP segments sent for the first time by");
  retransmits = define.counter("tcp_retransmits", "segments", "TCP segments sent again by");
  listen_drops =
      define.counter("tcp_listen_drops", "connections", "Connections that a listening socket could not take, of");
}

NetworkSeries::OfDirection NetworkSeries::make(const LevelMetrics::Direction& metrics,
                                               const std::string& interface) const {
  const auto series = [&](const Metric& metric) {
    return interface.empty() ? metric.series(subject_) : metric.series(subject_, {{"interface", interface}});
  };
  return {series(metrics.bytes), series(metrics.packets), series(metrics.errors), series(metrics.drops)};
}

void NetworkSeries::add(const std::string& interface, const Interface& traffic, Batch& batch) {
  auto known = interfaces_.find(interface);
  if (known == interfaces_.end())
    known = interfaces_
                .emplace(interface, OfInterface{make(metrics_->received, interface), make(metrics_->sent, interface)})
                .first;
  const auto& [received, sent] = known->second;
  network::add(traffic.received, received.bytes, received.packets, received.errors, received.drops, batch);
  network::add(traffic.sent, sent.bytes, sent.packets, sent.errors, sent.drops, batch);
}

void NetworkSeries::add(const Tcp& tcp, Batch& batch) {
  add(tcp.segments_sent, metrics_->segments_sent, segments_sent_, batch);
  add(tcp.retransmits, metrics_->retransmits, retransmits_, batch);
  add(tcp.listen_drops, metrics_->listen_drops, listen_drops_, batch);
}

void NetworkSeries::add(std::optional<std::uint64_t> value, const Metric& metric, std::uint64_t& series,
                        Batch& batch) const {
  if (!value) return;
  if (!series) series = metric.series(subject_);
  batch.add(series, static_cast<double>(*value));
}

}  // namespace koord::network
