// Shared by all parts of reading a map.
#pragma once

#include "text.hpp"

#include "teewire/map/map.hpp"

#include <algorithm>
#include <limits>
#include <memory>

namespace teewire::map_detail {

// Where something was found.
struct place {
    std::int32_t type = -1;
    std::int32_t item = -1;
    std::size_t position = 0;
    std::int32_t group = -1;
    std::int32_t layer = -1;
};

// Blocks that claim more than this, and more than all that were read together, are decompressed once for their true size
// before memory is asked for.
constexpr std::size_t trusted_block_bytes = std::size_t{16} << 20;

// Shared by all parts of reading: reporting, and loading blocks within a budget.
class loader {
public:
    loader(datafile const& file, map_read_options const& options)
        : file_{file}, report_{options.report}, on_block_{options.on_block}, budget_{options.max_bytes},
          memory_{new inflate_memory} {}

    [[nodiscard]] datafile const& file() const noexcept { return file_; }
    [[nodiscard]] map_problem const& first_error() const noexcept { return first_error_; }
    [[nodiscard]] bool has_error() const noexcept { return first_error_.code != map_errc::ok; }

    void report(map_problem problem, place const& at) {
        problem.item_type = at.type;
        problem.item = at.item;
        problem.group = at.group;
        problem.layer = at.layer;
        if (problem.position == 0) problem.position = at.position;
        if (problem.severity == map_severity::error && !has_error()) first_error_ = problem;
        report_(problem);
    }
    void report(map_errc code, place const& at, std::int64_t value = 0, std::int64_t expected = 0,
                std::int32_t block = -1) {
        report(code, severity_of(code), at, value, expected, block);
    }
    void report(map_errc code, map_severity severity, place const& at, std::int64_t value = 0,
                std::int64_t expected = 0, std::int32_t block = -1) {
        map_problem problem;
        problem.code = code;
        problem.severity = severity;
        problem.block = block;
        problem.value = value;
        problem.expected = expected;
        report(problem, at);
    }

    // Takes what is about to be allocated off the budget. False, with a report, if there is not enough.
    bool spend(std::size_t bytes, std::int32_t block, place const& at, map_severity worst) {
        if (bytes <= budget_) {
            budget_ -= bytes;
            return true;
        }
        report(map_errc::too_large, worst, at, static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(budget_),
               block);
        return false;
    }

    // Fills `out` with as many whole or begun elements as the block has bytes for. Gives the bytes, or nothing, with a
    // report.
    template <class Element>
    std::optional<std::size_t> load(std::int32_t block, std::vector<Element>& out, place const& at,
                                    map_severity worst = map_severity::damage) {
        auto size = file_.block_size(block);
        // Stored bytes count as well: a long stream can hold next to nothing, and be asked for again and again.
        if (size &&
            !spend(std::max(*size, file_.block(static_cast<std::size_t>(block)).stored.size()), block, at, worst))
            return {};
        if (size && *size > std::max(trusted_block_bytes, read_)) size = file_.check_block(block, *memory_);
        if (size) {
            out.resize((*size + sizeof(Element) - 1) / sizeof(Element));
            auto const bytes = std::span{reinterpret_cast<std::uint8_t*>(out.data()), *size};
            auto const target = [&](map_problem const& note) { report(note, at); };
            auto const read = file_.read_block(block, bytes, *memory_, target);
            if (read) {
                read_ += *size;
                on_block_(block, bytes);
                return *size;
            }
            out = {};
            size = read.error();
        }
        map_problem problem = size.error();
        problem.severity = worst;
        report(problem, at);
        return {};
    }

private:
    datafile const& file_;
    map_report report_;
    map_block_listener on_block_;
    std::size_t budget_;
    std::size_t read_ = 0; // bytes of blocks
    std::unique_ptr<inflate_memory> memory_;
    map_problem first_error_{};
};

inline raw_ints copy(item_ints ints) {
    raw_ints raw(ints.size());
    for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = ints[i];
    return raw;
}

// The ints of an item, with what is meant where it is too short.
class fields {
public:
    explicit fields(raw_ints const& raw) : raw_{raw} {}
    std::int32_t operator()(std::size_t i, std::int32_t missing) const noexcept {
        return i < raw_.size() ? raw_[i] : missing;
    }

private:
    raw_ints const& raw_;
};

// A name of `count` ints from int `at` on. DDNet refuses tile layers whose names are not text, and empties others.
inline std::string read_name(loader& from, raw_ints const& raw, std::size_t at, std::size_t count,
                             map_severity severity, place const& where) {
    if (raw.size() < at + count) return {};
    auto text = unpack_name(std::span{raw}.subspan(at, count));
    if (!text) from.report(map_errc::bad_name_encoding, severity, where);
    return text ? std::move(*text) : std::string{};
}

} // namespace teewire::map_detail
