// SPDX-License-Identifier: Apache-2.0
#include "core/exposition/document.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "core/exposition/histograms.hpp"
#include "core/exposition/number.hpp"

namespace koord::exposition {
namespace {

// Metadata of a family, which precede its samples.
struct Family {
  std::string_view name, help, unit;
  Type type = Type::unknown;
  bool is_typed = false, has_samples = false;
};

// The role of a sample's line in its family.
enum class Part : std::uint8_t { value, bucket, count, sum, nothing };

struct Suffix {
  std::string_view text;
  Type type;
  Part part;
  Kind kind;
  bool has_unit;
};
// The overhead of an element of a map or a deque: pointers, hash, padding of the allocator.
constexpr std::size_t kNodeBytes = 64;

constexpr Suffix kSuffixes[] = {
    {"_bucket", Type::histogram, Part::bucket, Kind::histogram, true},
    {"_count", Type::histogram, Part::count, Kind::histogram, true},
    {"_sum", Type::histogram, Part::sum, Kind::histogram, true},
    {"_count", Type::summary, Part::value, Kind::counter, false},
    {"_sum", Type::summary, Part::value, Kind::counter, true},
    {"_total", Type::counter, Part::value, Kind::counter, true},
    {"_info", Type::info, Part::value, Kind::gauge, false},
    {"_bucket", Type::gauge_histogram, Part::nothing, Kind::gauge, false},
    {"_gcount", Type::gauge_histogram, Part::value, Kind::gauge, false},
    {"_gsum", Type::gauge_histogram, Part::value, Kind::gauge, true},
    {"_created", Type::counter, Part::nothing, Kind::gauge, false},
    {"_created", Type::histogram, Part::nothing, Kind::gauge, false},
    {"_created", Type::summary, Part::nothing, Kind::gauge, false},
};

}  // namespace

class DocumentReader {
 public:
  DocumentReader(std::string text, Syntax syntax, const DocumentLimits& limits, ByteShare memory)
      : limits_(limits),
        working_(memory.sibling()),
        parser_((document_.text_ = std::make_unique<const std::string>(std::move(text)), *document_.text_), syntax,
                limits.line) {
    document_.memory_ = std::move(memory);
  }

  Result<Document> read() {
    for (;;) {
      const Entry entry = TRY(parser_.next());
      if (entry == Entry::end) break;
      TRY(take(entry));
      if (working_.is_limited()) TRY(check_memory());
    }
    TRY(finish_histograms());
    return std::move(document_);
  }

 private:
  // The destination of the samples of one name.
  struct Target {
    Part part;
    std::uint32_t metric;
  };

  Result<void> take(Entry entry) {
    switch (entry) {
      case Entry::end:
        break;
      case Entry::type:
        return take_type();
      case Entry::help:
        family(parser_.name()).help = keep(parser_.help());
        break;
      case Entry::unit:
        family(parser_.name()).unit = keep(parser_.unit());
        break;
      case Entry::sample:
        return take_sample();
    }
    return {};
  }

  Error error(const std::string& text) const { return invalid("line " + std::to_string(parser_.line()) + ": " + text); }

  // Returns the same text in memory that exists while the document exists.
  std::string_view keep(std::string_view text) {
    const std::string& all = *document_.text_;
    if (text.data() >= all.data() && text.data() + text.size() <= all.data() + all.size()) return text;
    kept_ += kNodeBytes + text.size();
    return document_.texts_.emplace_back(text);
  }

  // Makes room for `n` more elements. While a vector moves, its elements exist twice.
  template <class T>
  Result<void> make_room(std::vector<T>& to, std::size_t n) {
    if (to.size() + n <= to.capacity()) return {};
    const std::size_t moved = to.size() * sizeof(T);
    TRY(working_.grow(moved));
    to.reserve(std::max(2 * to.capacity(), to.size() + n));
    working_.shrink(moved);
    return {};
  }

  Result<void> make_room_for_sample() {
    TRY(make_room(document_.samples_, 1));
    TRY(make_room(document_.labels_, parser_.labels().size()));
    TRY(make_room(document_.metrics_, 1));
    return make_room(histograms_.groups(), 1);
  }

  // Adds the memory of a line to the shares. It is called after each line; one line exceeds the limit only slightly.
  Result<void> check_memory() {
    TRY(document_.memory_.grow(std::exchange(kept_, 0)));
    return working_.grow(std::exchange(temporary_, 0));
  }

  Family& family(std::string_view name) {
    if (auto known = families_.find(name); known != families_.end()) return known->second;
    temporary_ += kNodeBytes + sizeof(Family);
    return families_.emplace(name, Family{.name = name, .help = {}, .unit = {}}).first->second;
  }

  Result<void> take_type() {
    Family& declared = family(parser_.name());
    if (declared.is_typed) return error("found a second type of '" + std::string(declared.name) + "', expected one");
    if (declared.has_samples)
      return error("found the type of '" + std::string(declared.name) +
                   "' behind its samples, expected it before them");
    declared.type = parser_.type();
    declared.is_typed = true;
    return {};
  }

  Result<void> take_sample() {
    if (++lines_ > limits_.samples)
      return error("found more than " + std::to_string(limits_.samples) + " samples, expected at most those");
    if (working_.is_limited()) TRY(make_room_for_sample());
    if (parser_.name() != last_name_) {
      last_target_ = target(parser_.name());
      last_name_ = parser_.name();
    }
    switch (last_target_.part) {
      case Part::nothing:
        return {};
      case Part::value:
        add_sample();
        return {};
      case Part::count:
        group().count = parser_.value();
        return {};
      case Part::sum:
        group().sum = parser_.value();
        return {};
      case Part::bucket:
        return add_bucket();
    }
    return {};
  }

  void add_sample() {
    Sample sample{.metric = last_target_.metric, .value = parser_.value(), .series = parser_.series()};
    add_labels(sample, parser_.labels());
    document_.samples_.push_back(sample);
    kept_ += sizeof(Sample);
  }

  void add_labels(Sample& sample, std::span<const Label> labels) {
    sample.first_label = static_cast<std::uint32_t>(document_.labels_.size());
    sample.n_labels = static_cast<std::uint32_t>(labels.size());
    for (const Label& label : labels) document_.labels_.push_back({label.name, keep(label.value)});
    kept_ += labels.size() * sizeof(Label);
  }

  Result<void> add_bucket() {
    auto labels = parser_.labels();
    auto le = std::find_if(labels.begin(), labels.end(), [](const Label& label) { return label.name == "le"; });
    if (le == labels.end()) return error("found a bucket without a label 'le', expected its upper bound there");
    std::optional<double> bound = number_of(le->value);
    if (!bound || std::isnan(*bound))
      return error("found the bound '" + std::string(le->value.substr(0, 40)) + "', expected a number or +Inf");
    group().buckets.emplace_back(*bound, parser_.value());
    temporary_ += 2 * sizeof(std::pair<double, double>);  // with the unused capacity of a vector
    return {};
  }

  HistogramAssembly::Group& group() {
    const std::size_t before = histograms_.groups().size();
    HistogramAssembly::Group& found =
        histograms_.group(last_target_.metric, document_.metrics_[last_target_.metric].name, parser_.labels(),
                          [this](std::string_view text) { return keep(text); });
    if (histograms_.groups().size() > before)
      temporary_ += kNodeBytes + sizeof found + 2 * found.labels.size() * sizeof(Label);
    return found;
  }

  Target target(std::string_view name) {
    auto known = targets_.find(name);
    if (known == targets_.end())
      known = targets_.emplace(name, find_target(name)).first, temporary_ += kNodeBytes + sizeof(Target);
    return known->second;
  }

  Target find_target(std::string_view name) {
    if (auto exact = families_.find(name); exact != families_.end() && exact->second.is_typed) {
      Family& declared = exact->second;
      declared.has_samples = true;
      Kind kind = declared.type == Type::counter ? Kind::counter : Kind::gauge;
      return {Part::value, add_metric({name, kind, declared.help, declared.unit})};
    }
    for (const Suffix& suffix : kSuffixes) {
      if (name.size() <= suffix.text.size() || !name.ends_with(suffix.text)) continue;
      auto found = families_.find(name.substr(0, name.size() - suffix.text.size()));
      if (found == families_.end() || !found->second.is_typed || found->second.type != suffix.type) continue;
      return part_of(found->second, suffix, name);
    }
    Family& untyped = family(name);
    untyped.has_samples = true;
    return {Part::value, add_metric({name, Kind::gauge, untyped.help, untyped.unit})};
  }

  Target part_of(Family& declared, const Suffix& suffix, std::string_view name) {
    declared.has_samples = true;
    if (suffix.part == Part::nothing) return {Part::nothing, 0};
    std::string_view unit = suffix.has_unit ? declared.unit : std::string_view();
    if (suffix.part == Part::value) return {suffix.part, add_metric({name, suffix.kind, declared.help, unit})};
    auto known = histogram_metrics_.find(declared.name);
    if (known == histogram_metrics_.end())
      known =
          histogram_metrics_.emplace(declared.name, add_metric({declared.name, Kind::histogram, declared.help, unit}))
              .first;
    return {suffix.part, known->second};
  }

  std::uint32_t add_metric(const Metric& metric) {
    document_.metrics_.push_back(metric);
    kept_ += sizeof(Metric);
    return static_cast<std::uint32_t>(document_.metrics_.size() - 1);
  }

  Result<void> finish_histograms() {
    for (HistogramAssembly::Group& group : histograms_.groups()) {
      TRY(make_room(document_.samples_, 1));
      TRY(make_room(document_.labels_, group.labels.size()));
      TRY(make_room(document_.histograms_, 1));
      kept_ += sizeof(Histogram) + 2 * (sizeof(double) + sizeof(std::uint64_t)) * (group.buckets.size() + 1);
      TRY(check_memory());
      Result<Histogram> histogram = assembled(group);
      if (!histogram) {
        if (document_.left_out_++ == 0)
          document_.left_out_because_ =
              "histogram '" + std::string(document_.metrics_[group.metric].name) + "': " + histogram.error().message();
        continue;
      }
      Sample sample{
          .metric = group.metric, .value = static_cast<double>(histogram->cumulative.back()), .series = group.key};
      add_labels(sample, group.labels);
      sample.histogram = static_cast<std::uint32_t>(document_.histograms_.size());
      document_.histograms_.push_back(*std::move(histogram));
      document_.samples_.push_back(sample);
      kept_ += sizeof(Sample);
    }
    return check_memory();
  }

  const DocumentLimits limits_;
  ByteShare working_;                     // memory of the members that end with the reader
  std::size_t kept_ = 0, temporary_ = 0;  // bytes of the current line that are not yet in the shares
  Document document_;
  Parser parser_;
  std::unordered_map<std::string_view, Family> families_;
  std::unordered_map<std::string_view, Target> targets_;  // key: the samples' name
  std::unordered_map<std::string_view, std::uint32_t> histogram_metrics_;
  std::string_view last_name_;
  Target last_target_{};
  HistogramAssembly histograms_;
  std::size_t lines_ = 0;
};

Result<Document> Document::read(std::string text, Syntax syntax, const DocumentLimits& limits, ByteShare memory) {
  return DocumentReader(std::move(text), syntax, limits, std::move(memory)).read();
}

}  // namespace koord::exposition
