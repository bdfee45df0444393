// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/base/parse.hpp"
#include "core/predict/checkpoint.hpp"

using namespace koord;
using namespace koord::predict;
using namespace std::chrono_literals;

namespace {

constexpr HalfLives kHalfLives{12h, 24h};
const Time kBegin = Time(24h * 20'000);

Checkpoint three_subjects() {
  Checkpoint checkpoint;
  checkpoint.saved = kBegin + 1h;
  for (const Subject& subject : {node_subject(), class_subject(state::PriorityClass::prod), pod_subject("u-1")}) {
    Model model(kHalfLives);
    model.add({0.1, 3e9}, kBegin);
    model.add({1.7, 1.0 / 3 * 1e9}, kBegin + 59min);
    checkpoint.models.emplace(subject, model);
  }
  checkpoint.scores["node"] = {{kBegin, {2000, 1 << 20}, {1.25, 1000}, 58, 3, 0}};
  return checkpoint;
}

std::vector<std::string> lines_of(const Checkpoint& checkpoint) {
  std::vector<std::string> lines = split(write_checkpoint(checkpoint), '\n');
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace

TEST_CASE("a checkpoint reads back as it was, to the last bit") {
  const Checkpoint written = three_subjects();
  ReadCheckpoint read = read_checkpoint(write_checkpoint(written), kHalfLives);
  CHECK(read.problems.empty());
  CHECK(read.checkpoint.saved == written.saved);
  CHECK(read.checkpoint.scores == written.scores);
  REQUIRE(read.checkpoint.models.size() == 3);
  for (const auto& [subject, model] : written.models) {
    const std::string name = to_string(subject);
    CAPTURE(name);
    const Model& same = read.checkpoint.models.at(subject);
    CHECK(same.cpu.state() == model.cpu.state());
    CHECK(same.memory.state() == model.memory.state());
    CHECK(same.percentiles() == model.percentiles());
    CHECK(same.first == model.first);
    CHECK(same.last == model.last);
    CHECK(same.samples == 2);
    CHECK(same.actual == model.actual);
  }
}

TEST_CASE("a damaged record is dropped and reported, the others count") {
  const std::vector<std::string> lines = lines_of(three_subjects());
  REQUIRE(lines.size() == 4);
  for (std::size_t damaged = 0; damaged < lines.size(); ++damaged) {
    std::vector<std::string> some = lines;
    some[damaged][some[damaged].size() / 2] ^= 1;
    ReadCheckpoint read = read_checkpoint(join(some, "\n"), kHalfLives);
    CHECK(read.checkpoint.models.size() + read.checkpoint.scores.size() == 3);
    CHECK(read.problems == std::vector<std::string>{"line " + std::to_string(damaged + 1) + ": its checksum is wrong"});
  }
}

TEST_CASE("wherever a file breaks off, what is whole before it counts") {
  const std::string text = write_checkpoint(three_subjects());
  std::size_t whole = 0;
  for (std::size_t size = 0; size < text.size(); ++size) {
    ReadCheckpoint read = read_checkpoint(std::string_view(text).substr(0, size), kHalfLives);
    const std::size_t found = read.checkpoint.models.size() + read.checkpoint.scores.size();
    CHECK(found >= whole);
    whole = found;
  }
  CHECK(whole == 4);  // the last line break is optional
}

TEST_CASE("records of another version are dropped and reported") {
  std::vector<std::string> lines = lines_of(three_subjects());
  lines[0][0] = '2';
  ReadCheckpoint read = read_checkpoint(join(lines, "\n"), kHalfLives);
  CHECK(read.checkpoint.models.size() == 2);
  CHECK(read.problems == std::vector<std::string>{"line 1: it is not of version 1"});
}

TEST_CASE("ten of many problems are reported and the rest counted") {
  std::string text;
  for (int i = 0; i < 25; ++i) text += "garbage\n";
  ReadCheckpoint read = read_checkpoint(text, kHalfLives);
  REQUIRE(read.problems.size() == 11);
  CHECK(read.problems.back() == "and 15 more lines");
}

TEST_CASE("an empty file holds nothing, and that is no problem") {
  CHECK(read_checkpoint("", kHalfLives).problems.empty());
}

TEST_CASE("a pod with a uid that could not be read back is not written") {
  Checkpoint checkpoint = three_subjects();
  checkpoint.models.emplace(pod_subject("a b"), Model(kHalfLives));
  checkpoint.models.emplace(pod_subject("a\nb"), Model(kHalfLives));
  ReadCheckpoint read = read_checkpoint(write_checkpoint(checkpoint), kHalfLives);
  CHECK(read.problems.empty());
  CHECK(read.checkpoint.models.size() == 3);
}

TEST_CASE("subjects read back from their names") {
  for (state::PriorityClass klass : kPriorityClasses)
    CHECK(*parse_subject(to_string(class_subject(klass))) == class_subject(klass));
  CHECK(to_string(class_subject(state::PriorityClass::none)) == "class/none");
  CHECK(*parse_subject("pod/x/y") == pod_subject("x/y"));
  CHECK_FALSE(parse_subject("pod/"));
  CHECK_FALSE(parse_subject("class/gold"));
}
