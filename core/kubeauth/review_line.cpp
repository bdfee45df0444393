// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/review_line.hpp"

#include <algorithm>
#include <utility>

namespace koord::kubeauth {

std::optional<std::string> ReviewLine::add(Place place) {
  auto found = by_name_.find(place.client);
  if (found == by_name_.end()) {
    const ClientAt added = clients_.insert(clients_.end(), {.name = place.client});
    found = by_name_.emplace(std::move(place.client), added).first;
  }
  const ClientAt client = found->second;
  LaneAt lane =
      std::find_if(client->lanes.begin(), client->lanes.end(), [&](const Lane& one) { return one.name == place.lane; });
  if (lane == client->lanes.end()) lane = client->lanes.insert(lane, {.name = std::move(place.lane), .questions = {}});
  lane->questions.push_back(std::move(place.question));
  ++client->size;
  ++size_;
  if (client->size > limits_.of_client) return drop_newest(client);
  if (size_ > limits_.of_all) return drop_newest(longest());
  return std::nullopt;
}

std::optional<ReviewLine::Place> ReviewLine::take(const MayAsk& may_ask) {
  const auto next =
      std::find_if(clients_.begin(), clients_.end(), [&](const Client& client) { return may_ask(client.name); });
  if (next == clients_.end()) return std::nullopt;
  return take(next);
}

std::optional<ReviewLine::Place> ReviewLine::take_of(const std::string& client) {
  const auto found = by_name_.find(client);
  if (found == by_name_.end()) return std::nullopt;
  return take(found->second);
}

// Takes the client's next question. The client and the lane become the last in their turns.
ReviewLine::Place ReviewLine::take(ClientAt client) {
  const LaneAt lane = client->lanes.begin();
  Place place{.client = client->name, .lane = lane->name, .question = std::move(lane->questions.front())};
  lane->questions.pop_front();
  clients_.splice(clients_.end(), clients_, client);
  client->lanes.splice(client->lanes.end(), client->lanes, lane);
  shrink(client, lane);
  return place;
}

void ReviewLine::remove(const Place& place) {
  const auto found = by_name_.find(place.client);
  if (found == by_name_.end()) return;
  const ClientAt client = found->second;
  const LaneAt lane =
      std::find_if(client->lanes.begin(), client->lanes.end(), [&](const Lane& one) { return one.name == place.lane; });
  if (lane == client->lanes.end()) return;
  if (std::erase(lane->questions, place.question) != 0) shrink(client, lane);
}

// Drops the client's newest question, from its longest lane. If lanes are equally long, it uses the last of them.
std::string ReviewLine::drop_newest(ClientAt client) {
  LaneAt lane = client->lanes.begin();
  for (LaneAt one = client->lanes.begin(); one != client->lanes.end(); ++one)
    if (one->questions.size() >= lane->questions.size()) lane = one;
  std::string dropped = std::move(lane->questions.back());
  lane->questions.pop_back();
  shrink(client, lane);
  return dropped;
}

// Updates sizes and lists after a question was removed.
void ReviewLine::shrink(ClientAt client, LaneAt lane) {
  --size_;
  --client->size;
  if (lane->questions.empty()) client->lanes.erase(lane);
  if (client->size != 0) return;
  by_name_.erase(client->name);
  clients_.erase(client);
}

// Returns the client with the most questions. If several clients have the same number, returns the last of them.
ReviewLine::ClientAt ReviewLine::longest() {
  ClientAt most = clients_.begin();
  for (ClientAt one = clients_.begin(); one != clients_.end(); ++one)
    if (one->size >= most->size) most = one;
  return most;
}

std::size_t ReviewLine::size_of(const std::string& client) const {
  const auto found = by_name_.find(client);
  return found == by_name_.end() ? 0 : found->second->size;
}

std::optional<std::string> ReviewLines::add(Place place, bool is_known) {
  const std::string client = place.client;
  if (std::optional<std::string> dropped = (is_known ? known_ : others_).add(std::move(place))) return dropped;
  const std::size_t known = known_.size_of(client), others = others_.size_of(client);
  if (known + others > limits_.of_client) return (known > others ? known_ : others_).drop_of(client);
  if (size() > limits_.of_all) return (known_.size() > others_.size() ? known_ : others_).drop_of_longest();
  return std::nullopt;
}

template <class Take>
std::optional<ReviewLines::Place> ReviewLines::take_in_turn(const Take& take) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    ReviewLine& line = is_turn_of_known_ ? known_ : others_;
    is_turn_of_known_ = !is_turn_of_known_;
    if (std::optional<Place> place = take(line)) return place;
  }
  return std::nullopt;
}

std::optional<ReviewLines::Place> ReviewLines::take(const ReviewLine::MayAsk& may_ask) {
  return take_in_turn([&](ReviewLine& line) { return line.take(may_ask); });
}

std::optional<ReviewLines::Place> ReviewLines::take_of(const std::string& client) {
  return take_in_turn([&](ReviewLine& line) { return line.take_of(client); });
}

void ReviewLines::remove(const Place& place) {
  known_.remove(place);
  others_.remove(place);
}

}  // namespace koord::kubeauth
