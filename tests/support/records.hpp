// Reads the golden vectors: records of "name value" lines with an empty line between records. '#' begins a comment.
#pragma once

#include "check.hpp"

#include <fstream>
#include <utility>

namespace test {

class record {
public:
    void add(std::string name, std::string value) { lines_.emplace_back(std::move(name), std::move(value)); }
    [[nodiscard]] bool empty() const { return lines_.empty(); }
    [[nodiscard]] auto const& lines() const { return lines_; }

    /// The subject of the record: the name of its first line.
    [[nodiscard]] std::string const& kind() const { return lines_.front().first; }
    [[nodiscard]] std::string const& title() const { return lines_.front().second; }

    [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
    [[nodiscard]] std::string const& get(std::string_view name) const {
        auto const* const value = find(name);
        REQUIRE_MESSAGE(value != nullptr, title(), " lacks ", std::string{name});
        return *value;
    }
    [[nodiscard]] std::vector<std::string> all(std::string_view name) const {
        std::vector<std::string> values;
        for (auto const& [n, v] : lines_)
            if (n == name) values.push_back(v);
        return values;
    }

private:
    [[nodiscard]] std::string const* find(std::string_view name) const {
        for (auto const& [n, v] : lines_)
            if (n == name) return &v;
        return nullptr;
    }
    std::vector<std::pair<std::string, std::string>> lines_;
};

inline std::vector<record> read_records(std::string const& file) {
    std::ifstream in{std::string{TEEWIRE_FIXTURES} + "/vectors/" + file};
    REQUIRE_MESSAGE(in.is_open(), file);
    std::vector<record> records(1);
    for (std::string line; std::getline(in, line);) {
        line.erase(std::min(line.find('#'), line.size()));
        line.erase(line.find_last_not_of(' ') + 1);
        if (line.empty()) {
            if (!records.back().empty()) records.emplace_back();
            continue;
        }
        std::size_t const name_end = std::min(line.find(' '), line.size());
        std::size_t const value = std::min(line.find_first_not_of(' ', name_end), line.size());
        records.back().add(line.substr(0, name_end), line.substr(value));
    }
    if (records.back().empty()) records.pop_back();
    REQUIRE(!records.empty());
    return records;
}

/// "truncated 3"
inline teewire::failure parse_failure(std::string_view text) {
    using teewire::errc;
    static constexpr std::pair<std::string_view, errc> codes[] = {
        {"truncated", errc::truncated},
        {"bad_varint", errc::bad_varint},
        {"bad_count", errc::bad_count},
        {"bad_length", errc::bad_length},
        {"bad_offset", errc::bad_offset},
        {"bad_type", errc::bad_type},
        {"bad_id", errc::bad_id},
        {"bad_item_size", errc::bad_item_size},
        {"size_mismatch", errc::size_mismatch},
        {"bad_text", errc::bad_text},
    };
    auto const parts = words(text);
    REQUIRE(parts.size() == 2);
    for (auto const& [name, code] : codes)
        if (name == parts[0]) return {code, number<std::size_t>(parts[1])};
    FAIL("unknown error name ", std::string{parts[0]});
    return {};
}

} // namespace test
