// SPDX-License-Identifier: Apache-2.0
// An API server's answers to one reflector, with a clock that the test moves.
#pragma once

#include <doctest/doctest.h>

#include "core/kube/reflector.hpp"

namespace koord::test {

using namespace koord::kube;
using namespace std::chrono_literals;

// An API server's answers to one reflector, with a clock that the test moves.
struct ReflectorTalk {
  ReflectorTalk() : reflector({.path = "/api/v1/nodes", .field_selector = "metadata.name=a"}, {}, now, 7) {}

  Reflector::Step::Do step() {
    last = reflector.next(now);
    return last.what;
  }
  // Advances the clock by the wait that the reflector requests, then takes the next step.
  Reflector::Step::Do step_after_wait() {
    if (step() != Reflector::Step::Do::wait || last.at == Time::max()) return last.what;
    waited = last.at - now;
    now = last.at;
    return step();
  }
  std::string target() const { return reflector.call().target; }
  bool asks_for(std::string_view what) const { return target().find(what) != std::string::npos; }

  std::optional<Reflector::Page> list(std::string version, std::string continuation = {}) {
    return reflector.listed(now, ListPage{std::move(version), std::move(continuation), {}});
  }
  void list_refused(unsigned status, std::string body = {}, std::optional<Duration> retry_after = {}) {
    reflector.list_failed(now, Reply{status, std::move(body), retry_after});
  }
  void list_lost() { reflector.list_failed(now, invalid("connection refused")); }
  void watch_refused(unsigned status, std::string body = {}) {
    reflector.watch_ended(now, Reply{status, std::move(body)});
  }
  void watch_lost() { reflector.watch_ended(now, invalid("connection reset")); }
  void watch_line_too_long() {
    reflector.watch_ended(now,
                          Error{std::make_error_code(std::errc::message_size), "found a line of more than 9 bytes"});
  }
  void watch_ended() { reflector.watch_ended(now, Reply{200, ""}); }
  Reflector::Line line(const std::string& type, const std::string& version) {
    text = R"({"type":")" + type + R"(","object":{"metadata":{"name":"a","resourceVersion":")" + version + R"("}}})";
    return reflector.line(now, text);
  }
  Reflector::Line error_line(int code) {
    text = R"({"type":"ERROR","object":{"kind":"Status","message":"broken","code":)" + std::to_string(code) + "}}";
    return reflector.line(now, text);
  }
  // Makes the reflector list at version 5 and start a watch.
  void watching() {
    step();
    list("5");
    step();
  }
  Health::State state() const { return reflector.health().state; }
  const std::string& problem() const { return reflector.health().problem; }

  Time now = from_ns(1'700'000'000'000'000'000);
  Reflector reflector;
  Reflector::Step last;
  Duration waited{};
  std::string text;
};

}  // namespace koord::test
