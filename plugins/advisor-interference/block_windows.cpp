// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/block_windows.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace koord::interference {
namespace {

using analysis::IoPart;
using analysis::IoStream;
using analysis::IoSubject;
using analysis::SuspectKind;

// Container, device, direction.
using StreamKey = std::tuple<std::uint64_t, std::uint32_t, Direction>;

std::uint64_t container_in(const ContainerOfCgroup& container_of, std::uint64_t cgroup) {
  const auto found = container_of.find(cgroup);
  return found == container_of.end() ? 0 : found->second;
}

// Adds up the streams of each container's cgroups.
std::map<StreamKey, BlockStream> streams_by_container(const BlockReading& reading,
                                                      const ContainerOfCgroup& container_of) {
  std::map<StreamKey, BlockStream> streams;
  for (const BlockStream& one : reading.streams) {
    BlockStream& sum = streams[{container_in(container_of, one.cgroup), one.device, one.direction}];
    sum.bytes += one.bytes;
    sum.latency += one.latency;
    sum.alone_requests += one.alone_requests;
    sum.alone_ns += one.alone_ns;
    sum.own_requests += one.own_requests;
    sum.own_ns += one.own_ns;
  }
  return streams;
}

double limit_used(const IoLimit& limit, const IoStream& stream, double bytes) {
  const double most_bytes = stream.is_write ? limit.write_bytes : limit.read_bytes;
  const double most = stream.is_write ? limit.writes : limit.reads;
  return std::max(most_bytes > 0 ? bytes / most_bytes : 0, most > 0 ? stream.requests / most : 0);
}

class Windows {
 public:
  Windows(const BlockReading& reading, const ContainerOfCgroup& container_of, double seconds)
      : streams_(streams_by_container(reading, container_of)), container_of_(container_of), seconds_(seconds) {}

  // `index`: index of each container's subject, by handle.
  void add_streams(const std::map<std::uint64_t, std::size_t>& index, std::vector<IoSubject>& subjects) {
    for (const auto& [key, stream] : streams_) {
      const auto& [handle, device, direction] = key;
      const auto at = index.find(handle);
      if (at == index.end()) continue;
      auto& streams = subjects[at->second].window.streams;
      places_[key] = {at->second, streams.size()};
      const auto n = static_cast<double>(stream.latency.count);
      const auto alone = static_cast<double>(stream.alone_requests);
      streams.push_back({.device = device,
                         .is_write = direction == Direction::write,
                         .requests = n / seconds_,
                         .mean = latency::mean_seconds(stream.latency).value_or(0),
                         .p99 = latency::quantile_seconds(stream.latency, 0.99).value_or(0),
                         .alone_requests = alone / seconds_,
                         .alone_mean = alone > 0 ? static_cast<double>(stream.alone_ns) / 1e9 / alone : 0});
      streams.back().own.seconds = per_second(stream.own_ns);
      streams.back().own.requests = stream.own_requests / seconds_;
    }
  }

  void add_part(const BlockPart& part, std::vector<IoSubject>& subjects) const {
    const std::uint64_t victim = container_in(container_of_, part.victim);
    const auto place = places_.find({victim, part.device, part.direction});
    if (place == places_.end()) return;
    IoStream& stream = subjects[place->second.first].window.streams[place->second.second];
    const std::uint64_t culprit = container_in(container_of_, part.culprit);
    IoPart& sum = part.culprit == 0 ? stream.unexplained : culprit == victim ? stream.own : part_of(stream, culprit);
    sum.seconds += per_second(part.ns);
    sum.requests += part.requests / seconds_;
  }

  double bytes_per_second(std::uint64_t handle, std::uint32_t device, Direction direction) const {
    const auto found = streams_.find({handle, device, direction});
    return found == streams_.end() ? 0 : static_cast<double>(found->second.bytes) / seconds_;
  }

 private:
  double per_second(std::uint64_t ns) const { return static_cast<double>(ns) / 1e9 / seconds_; }

  IoPart& part_of(IoStream& stream, std::uint64_t culprit) const {
    for (IoPart& part : stream.others)
      if (part.subject == culprit) return part;
    const double usage = bytes_per_second(culprit, stream.device, Direction::read) +
                         bytes_per_second(culprit, stream.device, Direction::write);
    const auto kind = culprit == 0 ? SuspectKind::outside : SuspectKind::container;
    return stream.others.emplace_back(IoPart{kind, culprit, 0, 0, usage});
  }

  std::map<StreamKey, BlockStream> streams_;
  std::map<StreamKey, std::pair<std::size_t, std::size_t>> places_;  // index of the subject and of the stream
  const ContainerOfCgroup& container_of_;
  double seconds_;
};

}  // namespace

std::vector<IoSubject> io_subjects(const std::vector<KnownContainer>& containers, const BlockReading& reading,
                                   const ContainerOfCgroup& container_of, double seconds, const LimitsOf& limits_of) {
  std::vector<IoSubject> subjects;
  std::map<std::uint64_t, std::size_t> index;
  for (const KnownContainer& container : containers) {
    index[container.handle] = subjects.size();
    subjects.push_back({container.workload, {.subject = container.handle}, container.rules});
  }
  Windows windows(reading, container_of, seconds);
  windows.add_streams(index, subjects);
  for (const BlockPart& part : reading.parts) windows.add_part(part, subjects);
  for (std::size_t i = 0; i < containers.size(); ++i) {
    analysis::IoWindow& window = subjects[i].window;
    if (window.streams.empty()) continue;
    const IoLimits& limits = limits_of(containers[i]);
    for (const IoStream& stream : window.streams) {
      const auto limit = limits.find(stream.device);
      if (limit == limits.end()) continue;
      const Direction direction = stream.is_write ? Direction::write : Direction::read;
      const double bytes = windows.bytes_per_second(window.subject, stream.device, direction);
      window.limit_used = std::max(window.limit_used, limit_used(limit->second, stream, bytes));
    }
  }
  return subjects;
}

}  // namespace koord::interference
