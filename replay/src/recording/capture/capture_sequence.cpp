#include "recording/capture/capture_sequence.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace teewire::replay {
namespace {

void add_new(std::vector<std::string>& all, std::vector<std::string> const& names) {
    for (std::string const& name : names)
        if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
}

} // namespace

capture_sequence::capture_sequence(std::span<capture_source const> files) : several_{files.size() > 1} {
    for (capture_source const& file : files) {
        if (several_) look_at(file);
        else open_.push_back({file.name(), capture_reader{file}, {}});
    }
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](waiting_file const& a, waiting_file const& b) { return a.first_time > b.first_time; });
    if (!several_) given_ = open_.begin(); // so that its first frame is read next
}

void capture_sequence::look_at(capture_source const& source) {
    try {
        capture_reader reader{source};
        captured_frame first;
        if (reader.next(first)) waiting_.push_back({&source, first.time});
        else if (!reader.error().empty()) complain(source.name(), reader.error());
    } catch (bad_input const& e) {
        complain(source.name(), e.reason());
    }
}

void capture_sequence::complain(std::string const& name, std::string const& why) {
    if (!error_.empty()) error_ += "; ";
    error_ += several_ ? fmt::format("{}: {}", name, why) : why;
}

bool capture_sequence::advance(std::list<open_one>::iterator file) {
    if (file->reader.next(file->ahead)) return true;
    if (!file->reader.error().empty()) complain(file->name, file->reader.error());
    return false;
}

void capture_sequence::open_next() {
    capture_source const& source = *waiting_.back().source;
    waiting_.pop_back();
    open_.push_back({source.name(), capture_reader{source}, {}});
    if (!advance(std::prev(open_.end()))) open_.pop_back(); // changed since it was looked at
}

bool capture_sequence::next(captured_frame& out) {
    if (given_ && !advance(*given_)) {
        done_ += (*given_)->reader.position();
        untimed_ += (*given_)->reader.untimed();
        add_new(links_, (*given_)->reader.links());
        open_.erase(*given_);
    }
    given_.reset();
    auto const earliest = [&] {
        return std::min_element(open_.begin(), open_.end(),
                                [](open_one const& a, open_one const& b) { return a.ahead.time < b.ahead.time; });
    };
    while (!waiting_.empty() && (open_.empty() || waiting_.back().first_time < earliest()->ahead.time)) open_next();
    if (open_.empty()) return false;
    given_ = earliest();
    out = (*given_)->ahead;
    out.number = ++frames_;
    return true;
}

std::vector<std::string> capture_sequence::links() const {
    std::vector<std::string> all = links_;
    for (open_one const& file : open_) add_new(all, file.reader.links());
    return all;
}

std::uint64_t capture_sequence::untimed() const {
    std::uint64_t count = untimed_;
    for (open_one const& file : open_) count += file.reader.untimed();
    return count;
}

std::uint64_t capture_sequence::position() const {
    std::uint64_t bytes = done_;
    for (open_one const& file : open_) bytes += file.reader.position();
    return bytes;
}

} // namespace teewire::replay
