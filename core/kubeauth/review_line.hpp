// SPDX-License-Identifier: Apache-2.0
// ReviewLine: questions that wait until their client may ask the API server again. The clients take turns, and within
// a client its lanes do. A full line drops the newest question of the client with the most, or of its longest lane. So
// a flood holds up others by one turn only. ReviewLines: two of them within the same bounds, which take turns. Pure.
// [one thread]
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

namespace koord::kubeauth {

class ReviewLine {
 public:
  struct Limits {
    std::size_t of_client = 16, of_all = 64;  // waiting questions
  };
  // A client's questions may differ by what they claim to be about.
  struct Place {
    std::string client, lane, question;
  };
  using MayAsk = std::function<bool(const std::string& client)>;

  explicit ReviewLine(const Limits& limits) : limits_(limits) {}

  // Returns the question that had to go, perhaps this one; nullopt: each has its place.
  std::optional<std::string> add(Place place);
  // Takes out the next question of the clients that may ask.
  std::optional<Place> take(const MayAsk& may_ask);
  // Takes out the next question of this client.
  std::optional<Place> take_of(const std::string& client);
  void remove(const Place& place);
  // Drops as a full line does. There must be a question, of this client or of any.
  std::string drop_of(const std::string& client) { return drop_newest(by_name_.at(client)); }
  std::string drop_of_longest() { return drop_newest(longest()); }

  bool contains(const std::string& client) const { return by_name_.contains(client); }
  std::size_t size() const { return size_; }
  std::size_t size_of(const std::string& client) const;

 private:
  struct Lane {
    std::string name;
    std::deque<std::string> questions;
  };
  struct Client {
    std::string name;
    std::size_t size = 0;
    std::list<Lane> lanes = {};  // the next one first
  };
  using ClientAt = std::list<Client>::iterator;
  using LaneAt = std::list<Lane>::iterator;

  Place take(ClientAt client);
  std::string drop_newest(ClientAt client);
  void shrink(ClientAt client, LaneAt lane);
  ClientAt longest();

  const Limits limits_;
  std::list<Client> clients_;  // the next one first
  std::unordered_map<std::string, ClientAt> by_name_;
  std::size_t size_ = 0;
};

// One line for questions about subjects that are known, and one for the others. Each has every second turn while
// questions wait in both, so neither kind keeps the other out.
class ReviewLines {
 public:
  using Place = ReviewLine::Place;

  // The limits of both together.
  explicit ReviewLines(const ReviewLine::Limits& limits) : limits_(limits), known_(limits), others_(limits) {}

  // As those of a line. A question of the longer line makes room.
  std::optional<std::string> add(Place place, bool is_known);
  std::optional<Place> take(const ReviewLine::MayAsk& may_ask);
  std::optional<Place> take_of(const std::string& client);
  void remove(const Place& place);

  bool contains(const std::string& client) const { return known_.contains(client) || others_.contains(client); }
  std::size_t size() const { return known_.size() + others_.size(); }

 private:
  template <class Take>
  std::optional<Place> take_in_turn(const Take& take);

  const ReviewLine::Limits limits_;
  ReviewLine known_, others_;
  bool is_turn_of_known_ = true;
};

}  // namespace koord::kubeauth
