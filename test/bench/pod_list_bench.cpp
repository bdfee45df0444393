// SPDX-License-Identifier: Apache-2.0
// Parses and publishes a kubelet's answer with 250 pods, 3 MB of JSON. Measures the time, and the peak memory in
// addition to the text. Fails above 30 ms or 10 MiB.
#include <malloc.h>

#include <cstdlib>
#include <new>

#include "core/state/hub.hpp"
#include "core/state/objects.hpp"
#include "measure.hpp"
#include "test/support/kubelet_answer.hpp"

using namespace koord;

namespace {

std::size_t in_use = 0, peak = 0;

void* taken(void* memory) {
  if (!memory) throw std::bad_alloc();
  in_use += ::malloc_usable_size(memory);
  peak = std::max(peak, in_use);
  return memory;
}

void count_free(void* memory) {
  in_use -= ::malloc_usable_size(memory);
  std::free(memory);
}

constexpr std::size_t kPods = 250;
constexpr int kRounds = 15;
constexpr double kMostMs = 30, kMostMiB = 10;

}  // namespace

void* operator new(std::size_t size) { return taken(std::malloc(size)); }
void operator delete(void* memory) noexcept { count_free(memory); }
void operator delete(void* memory, std::size_t) noexcept { count_free(memory); }

int main() {
  const std::string text = test::kubelet_answer(kPods);
  const cgroup::KubeRoot root = cgroup::default_kube_root(cgroup::Driver::systemd);
  std::vector<double> ms;
  double extra = 0;
  std::size_t read = 0;
  for (int round = 0; round < kRounds; ++round) {
    state::Hub hub;
    const std::size_t before = peak = in_use;
    ms.push_back(1e3 * bench::cpu_seconds_of([&] {
                   auto list = state::parse_served_pods(text, root);
                   if (list) hub.publish({.pods = std::move(list->pods)});
                 }));
    extra = std::max(extra, static_cast<double>(peak - before) / (1 << 20));
    read = hub.current()->pods.size();
  }
  if (read != kPods) {
    std::printf("read %zu pods of %zu\n", read, kPods);
    return 1;
  }
  const double time = bench::median(ms);
  std::printf("%zu pods, %.2f MB: %.1f ms (<= %.0f), %.2f MiB extra at the peak (<= %.0f)\n", kPods,
              static_cast<double>(text.size()) / 1e6, time, kMostMs, extra, kMostMiB);
  return time <= kMostMs && extra <= kMostMiB ? 0 : 1;
}
