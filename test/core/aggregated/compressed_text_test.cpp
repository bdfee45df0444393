// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/compressed_text.hpp"

#include <doctest/doctest.h>

#include <random>

#include "test/bench/node_metric_bodies.hpp"

using namespace koord;
using namespace koord::aggregated;

namespace {

std::string random_text(std::size_t bytes) {
  std::mt19937 random(1);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random() & 0xff);
  return text;
}

void damage(const CompressedText& text, std::size_t at) { const_cast<char&>(text.kept()[at]) ^= 0x10; }

}  // namespace

TEST_CASE("a report takes less than a third of its size, and comes back byte by byte") {
  for (int pods : {1, 30, 250}) {
    CAPTURE(pods);
    const std::string report = bench::NodeMetricBodies(1, pods).body(0);
    const CompressedText text(report);
    CHECK(text.size() == report.size());
    CHECK(text.text().value() == report);
    if (pods > 1) CHECK(text.kept().size() < report.size() / 3);
  }
}

TEST_CASE("a short text, and one that does not become shorter, are not compressed") {
  const std::string shortest(CompressedText::kLeastBytes - 1, 'a');
  for (const std::string& plain : {std::string(), std::string("{}"), shortest, random_text(5000)}) {
    const CompressedText text(plain);
    CHECK(text.kept() == plain);
    CHECK(text.text().value() == plain);
    CHECK(text.empty() == plain.empty());
  }
  CHECK(CompressedText(shortest + 'a').kept().size() < 50);
}

TEST_CASE("a text of each size comes back, with any bytes") {
  const std::string random = random_text(500);
  for (std::size_t size = 0; size < 2000; size += 7) {
    std::string plain(size, '\0');
    plain += random.substr(0, size % 300);
    CHECK(CompressedText(plain).text().value() == plain);
  }
}

TEST_CASE("equal texts are equal, others are not") {
  bench::NodeMetricBodies bodies(2, 30);
  const std::string one = bodies.body(0), other = bodies.body(0);
  CHECK(CompressedText(one) == CompressedText(one));
  CHECK(CompressedText(one) != CompressedText(other));
  CHECK(CompressedText() == CompressedText(""));
}

// Damage of some header bytes of gzip, such as its time, is not an error.
TEST_CASE("nearly every damaged byte is an error, and none changes the text") {
  const std::string plain = bench::NodeMetricBodies(1, 30).body(0);
  const CompressedText text(plain);
  std::size_t unnoticed = 0;
  for (std::size_t at = 0; at < text.kept().size(); ++at) {
    CAPTURE(at);
    damage(text, at);
    if (const Result<std::string> unpacked = text.text()) {
      CHECK(*unpacked == plain);
      ++unnoticed;
    } else {
      CHECK(unpacked.error().text.starts_with("a compressed text is damaged in memory: expected "));
    }
    damage(text, at);
  }
  CHECK(unnoticed < text.kept().size() / 20);
}
