// SPDX-License-Identifier: Apache-2.0
// A Synchronize of a full node (250 pods, 500 containers), compared with copying its bytes: in one message without
// large annotations, and in parts with 256 KiB of unused annotations on each pod, as runtimes since NRI 0.7 send it.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/hook/nri/session.hpp"
#include "measure.hpp"
#include "test/core/hook/nri/runtime_messages.hpp"

using namespace koord;
using namespace koord::nri;
using namespace koord::test;

namespace {

constexpr std::size_t kPods = 250;
constexpr std::size_t kContainersOfPod = 2;
constexpr std::size_t kRounds = 9;
constexpr std::size_t kBlock = 64 << 10;  // maximum size of one read from the socket

void write_pod(Writer& pod, std::size_t number, const std::string& annotation) {
  pod.text(1, std::string(60, 'a') + std::to_string(number));
  pod.text(2, "web-" + std::to_string(number));
  pod.map(5, {{"app", "web"}, {"koordinator.sh/qosClass", "LS"}});
  pod.map(6, {{"koordinator.sh/used", "1"}, {"unused", annotation}});
  pod.message(8, [](Writer& linux_part) { linux_part.text(3, "/kubepods/burstable/pod0123456789"); });
}

void write_container(Writer& container, std::size_t pod) {
  container.text(1, std::string(60, 'c') + std::to_string(pod));
  container.text(2, std::string(60, 'a') + std::to_string(pod));
  container.texts(8, std::vector<std::string>(30, "NAME_OF_A_VARIABLE=and its value"));
  for (int mount = 0; mount < 15; ++mount) {
    container.message(9, [](Writer& out) {
      out.text(1, "/var/run/secrets/kubernetes.io/serviceaccount");
      out.text(2, "bind");
      out.text(3, "/var/lib/kubelet/pods/0123456789/volumes/kubernetes.io~projected/kube-api-access");
      out.texts(4, {"rbind", "rprivate", "ro"});
    });
  }
}

// Returns the bytes on the socket.
std::string synchronize_bytes(std::size_t annotation_size, std::size_t pods_of_part) {
  const std::string annotation(annotation_size, 'x');
  std::string bytes;
  std::uint32_t call = 1;
  for (std::size_t at = 0; at < kPods; at += pods_of_part, call += 2) {
    const std::size_t end = std::min(kPods, at + pods_of_part);
    std::vector<Fill> pods, containers;
    for (std::size_t i = at; i < end; ++i)
      pods.push_back([i, &annotation](Writer& out) { write_pod(out, i, annotation); });
    for (std::size_t i = at * kContainersOfPod; i < end * kContainersOfPod; ++i)
      containers.push_back([i](Writer& out) { write_container(out, i / kContainersOfPod); });
    const std::string payload = synchronize_request(pods, containers, end < kPods);
    append_message(bytes, kPluginStream, call, MessageType::request,
                   encode(Request{"nri.pkg.api.v1alpha1.Plugin", "Synchronize", payload, std::chrono::seconds(2)}));
  }
  return bytes;
}

struct Handler : Events {
  void synchronize(std::vector<Pod> pods, std::vector<Container> containers, Done<UpdateAnswer> done) override {
    if (pods.size() != kPods || containers.size() != kPods * kContainersOfPod) std::abort();
    allocated = ::mallinfo2().uordblks;
    done({});
  }

  std::size_t allocated = 0;  // bytes allocated by the process while the handler has all pods
};

// Returns the additional memory in use while the handler has all pods.
std::size_t synchronize(const std::string& bytes) {
  event::Loop loop;
  SystemClock clock;
  Options options;
  options.keep_annotation = [](std::string_view key) { return key.starts_with("koordinator.sh/"); };
  Handler handler;
  Status status;
  Session session(
      loop, clock, options, handler, status,
      {.send = [](std::string_view) {}, .on_active = [&] { loop.stop(); }, .on_failure = [](Error) { std::abort(); }});
  const std::size_t before = ::mallinfo2().uordblks;
  for (std::size_t at = 0; at < bytes.size(); at += kBlock)
    if (!session.take(std::string_view(bytes).substr(at, kBlock))) std::abort();
  loop.run();
  return handler.allocated - before;
}

std::size_t copy(const std::string& bytes) {
  std::string copied;
  for (std::size_t at = 0; at < bytes.size(); at += kBlock) copied.append(bytes, at, kBlock);
  return copied.size();
}

template <class Work>
double milliseconds_of(const Work& work) {
  std::vector<double> rounds;
  for (std::size_t round = 0; round < kRounds; ++round) rounds.push_back(bench::cpu_seconds_of(work) * 1e3);
  return bench::median(rounds);
}

bool measure(const char* name, const std::string& bytes, double most_ms) {
  std::size_t kept = 0, copied = 0;
  const double ours = milliseconds_of([&] { kept = synchronize(bytes); });
  const double bare = milliseconds_of([&] { copied += copy(bytes); });
  if (copied == 0) std::abort();
  std::printf("%-44s %.1f MB, %.1f ms (target <= %.0f), in use %.1f MB\n", name,
              static_cast<double>(bytes.size()) / 1e6, ours, most_ms, static_cast<double>(kept) / 1e6);
  bench::print_ratio(name, ours, "copy of the bytes", bare, "ms", 100);
  return ours <= most_ms;
}

}  // namespace

int main() {
  const bool small = measure("NR1 Synchronize, small annotations", synchronize_bytes(10, kPods), 100);
  const bool large = measure("NR1 Synchronize, 256 KiB of annotations", synchronize_bytes(256 << 10, 15), 500);
  return small && large ? 0 : 1;
}
