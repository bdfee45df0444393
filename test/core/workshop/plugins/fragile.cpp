// SPDX-License-Identifier: Apache-2.0
// An advisor that trusts the content of a file. Tests of fuzzing find its faults.
#include <chrono>
#include <cstdlib>
#include <koordetector/plugin.hpp>
#include <string>

using namespace koord::plugin;

struct Fragile : Advisor {
  void init() override { fs_ = require<koord_svc_fs>(host(), "koord.fs/1"); }
  void collect(std::uint64_t, std::uint64_t) override {
    const std::string text = text_of([&](char* buf, std::uint64_t cap, std::uint64_t* need) {
      return fs_->read(host(), KOORD_ROOT_PROC, str("loadavg"), buf, cap, need);
    });
    if (text.find('/') == std::string::npos) std::abort();
  }
  const koord_svc_fs* fs_ = nullptr;
};
KOORD_PLUGIN("id=com.example.fragile\nversion=1.0.0\nkinds=koord.advisor/1\ngate=Fragile\nrequires=koord.fs/1\n",
             advisor<Fragile>("fragile", std::chrono::seconds(1)))
