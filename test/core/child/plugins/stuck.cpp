// SPDX-License-Identifier: Apache-2.0
// A plugin with a constructor that never returns and ignores SIGTERM.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <koordetector/plugin.hpp>

using namespace koord::plugin;

namespace {

__attribute__((constructor)) void hang() {
  ::signal(SIGTERM, SIG_IGN);
  for (;;) ::pause();
}

struct Stuck : Advisor {
  void collect(std::uint64_t, std::uint64_t) override {}
};

}  // namespace

KOORD_PLUGIN("id=com.example.stuck\nversion=1.0.0\nkinds=koord.advisor/1\ngate=Stuck\n",
             advisor<Stuck>("stuck", std::chrono::seconds(1)))
