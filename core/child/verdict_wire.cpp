// SPDX-License-Identifier: Apache-2.0
#include "core/child/verdict_wire.hpp"

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace koord::child {
namespace {

constexpr std::size_t kLeastRecord = 100, kLeastSuspect = 50, kLeastOther = 16;  // bytes

// Writes the members of a verdict in the order in which they are visited.
class Writer {
 public:
  explicit Writer(Packer& out) : out_(out) {}

  template <class Member>
  void operator()(const Member& member) {
    if constexpr (std::is_same_v<Member, std::string>)
      out_.add(std::string_view(member));
    else if constexpr (std::is_enum_v<Member>)
      out_.add(static_cast<std::uint32_t>(member));
    else if constexpr (std::is_same_v<Member, Time>)
      out_.add(to_ns(member));
    else if constexpr (std::is_same_v<Member, Duration>)
      out_.add(std::int64_t{member.count()});
    else
      out_.add(member);
  }
  template <class Element, class Visit>
  void list(const std::vector<Element>& elements, std::size_t, const Visit& visit) {
    out_.add(static_cast<std::uint32_t>(elements.size()));
    for (const Element& element : elements) visit(*this, element);
  }

 private:
  Packer& out_;
};

class Reader {
 public:
  explicit Reader(Unpacker& in) : in_(in) {}

  template <class Member>
  void operator()(Member& member) {
    if constexpr (std::is_same_v<Member, std::string>)
      member = in_.text();
    else if constexpr (std::is_enum_v<Member>)
      member = static_cast<Member>(in_.number<std::uint32_t>());
    else if constexpr (std::is_same_v<Member, Time>)
      member = from_ns(in_.number<std::uint64_t>());
    else if constexpr (std::is_same_v<Member, Duration>)
      member = Duration(in_.number<std::int64_t>());
    else
      member = in_.number<Member>();
  }
  template <class Element, class Visit>
  void list(std::vector<Element>& elements, std::size_t least_bytes, const Visit& visit) {
    elements.resize(in_.count(least_bytes));
    for (Element& element : elements) visit(*this, element);
  }

 private:
  Unpacker& in_;
};

constexpr auto visit_suspect = [](auto& each, auto& suspect) {
  each(suspect.kind);
  each(suspect.subject.handle);
  each(suspect.name);
  each(suspect.value);
  each(suspect.share);
  each(suspect.excess);
  each(suspect.usage);
  each(suspect.request);
};

constexpr auto visit_other = [](auto& each, auto& other) {
  each(other.first);
  each(other.second);
};

constexpr auto visit_posted = [](auto& each, auto& record) {
  each(record.victim.handle);
  each(record.resource);
  each(record.kind);
  each(record.method);
  each(record.from);
  each(record.to);
  each(record.windows_over);
  each(record.windows_seen);
  each(record.statistic.name);
  each(record.statistic.unit);
  each(record.statistic.value);
  each(record.statistic.baseline);
  each(record.statistic.threshold);
  each(record.amount_unit);
  each(record.own);
  each(record.throttled);
  each(record.unexplained);
  each.list(record.suspects, kLeastSuspect, visit_suspect);
  each.list(record.others, kLeastOther, visit_other);
  each(record.note);
  each(record.ttl);
};

constexpr auto visit_standing = [](auto& each, auto& record) {
  visit_posted(each, record);
  each(record.id);
  each(record.since);
  each(record.plugin);
  each(record.victim_name);
  each(record.origin);
};

}  // namespace

void add_posted(Packer& out, const std::vector<verdict::Record>& records) {
  Writer(out).list(records, kLeastRecord, visit_posted);
}

std::vector<verdict::Record> take_posted(Unpacker& in) {
  std::vector<verdict::Record> records;
  Reader(in).list(records, kLeastRecord, visit_posted);
  return records;
}

void add_standing(Packer& out, const verdict::CurrentVerdicts& standing) {
  Writer writer(out);
  writer(standing.generation);
  writer(standing.version);
  out.add(static_cast<std::uint32_t>(standing.records.size()));
  for (const verdict::RecordPtr& record : standing.records) visit_standing(writer, *record);
}

verdict::CurrentVerdicts take_standing(Unpacker& in) {
  verdict::CurrentVerdicts standing;
  Reader reader(in);
  reader(standing.generation);
  reader(standing.version);
  for (std::uint32_t n = in.count(kLeastRecord); n > 0; --n) {
    auto record = std::make_shared<verdict::Record>();
    visit_standing(reader, *record);
    standing.records.push_back(std::move(record));
  }
  return standing;
}

}  // namespace koord::child
