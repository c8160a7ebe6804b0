// Items as tables: one for each name that an item type has, with a row for each span of snapshots in which an item does
// not change.
#pragma once

#include <teewire/schema.hpp>
#include <teewire/snapshot.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace teewire::replay {

// ---- what tables there are -----------------------------------------------------------------------------------------

struct item_column {
    std::string name; ///< the field's, after the table's if every table has a column of that name
    field_kind kind;
};

/// A table for all protocols that have an item type of that name; their fields may differ.
struct item_table {
    std::string name;
    std::vector<item_column> columns;
};
/// Always the same, in the same order.
[[nodiscard]] std::vector<item_table> const& item_tables();

/// Where an item of one protocol has the value of a column.
struct column_place {
    field const* described = nullptr; ///< null if its items have no such field
    std::uint16_t at = 0;             ///< int
};
struct item_layout {
    std::size_t table = 0; ///< which one
    std::vector<column_place> columns;
    std::size_t described = 0; ///< ints that have a name; others may follow
};
/// The layout of one of the objects in teewire/schema.hpp.
[[nodiscard]] item_layout const& layout_of(object const& known);

// ---- rows ----------------------------------------------------------------------------------------------------------

/// The item was the same in all snapshots from one tick to the other. Borrowed.
struct item_row {
    std::uint16_t id = 0;
    std::int32_t first_tick = 0;
    std::int32_t last_tick = 0;
    std::span<std::int32_t const> ints;
};

/// The value in a column, as rows have it.
struct cell {
    enum class kind : std::uint8_t { none, integer, text } is = kind::none;
    std::int32_t integer = 0;
    std::string_view text; ///< of an enumeration: static; other texts hold until the next one is read
};
/// `scratch`: memory for texts.
[[nodiscard]] cell read_cell(column_place const& place, std::span<std::int32_t const> ints, std::string& scratch);

/// The rows of one type in one recording.
class table_rows {
public:
    /// False if the snapshot of that tick had that item already. `before`: the tick of the snapshot before, or -1.
    bool add(item const& i, std::int32_t tick, std::int32_t before);
    /// No more snapshots follow.
    void close_all();
    /// Makes the rows complete of items that the snapshot of that tick, the last one, has not.
    void close_gone(std::int32_t tick);
    /// Complete rows.
    [[nodiscard]] std::size_t size() const noexcept { return begins_.size(); }
    /// Ints of any complete row, at most.
    [[nodiscard]] std::size_t most_ints() const noexcept { return most_ints_; }
    /// Bytes of all rows.
    [[nodiscard]] std::size_t bytes() const noexcept { return 4 * (ints_.size() + begins_.size() + open_ints_); }
    /// Where the complete rows are, for row_at(): by id, and of the same id by tick.
    [[nodiscard]] std::vector<std::uint32_t> order() const;
    [[nodiscard]] item_row row_at(std::uint32_t place) const noexcept {
        std::int32_t const* const row = ints_.data() + place;
        return {static_cast<std::uint16_t>(row[0]), row[1], row[2], {row + head, static_cast<std::size_t>(row[3])}};
    }
    /// Fetches what row_at() will need.
    void prefetch(std::uint32_t place) const noexcept {
        __builtin_prefetch(ints_.data() + place);
        __builtin_prefetch(ints_.data() + place + 16); // the next line of the cache
    }
    void drop_complete() noexcept;

private:
    static constexpr std::size_t head = 4; // id, first_tick, last_tick, number of ints
    struct open_row {
        std::int32_t last_tick = -1;
        std::vector<std::int32_t> ints = std::vector<std::int32_t>(head); // as it will be, but for the last tick

        [[nodiscard]] std::uint16_t id() const noexcept { return static_cast<std::uint16_t>(ints[0]); }
        [[nodiscard]] std::size_t size() const noexcept { return ints.size() - head; }
    };
    void close(open_row& row);

    std::vector<std::uint32_t> open_by_id_; // place in open_ + 1; 0 if there is none
    std::vector<open_row> open_;
    std::size_t open_count_ = 0; // the others are memory to be used again
    std::size_t open_ints_ = 0;
    std::vector<std::int32_t> ints_;
    std::vector<std::uint32_t> begins_; // of rows in ints_
    std::size_t most_ints_ = 0;
};

/// An item of a type without a table, or one of several with the same type and id in one snapshot.
struct other_item {
    std::string_view type; ///< as `dump` calls it
    item_row row;
};

/// All rows of a recording, as far as they have not been dropped.
class item_rows {
public:
    /// A recording begins; nothing of the one before is left.
    void begin(protocol p);
    /// The snapshots in the order of their ticks, of which each is higher than the one before. O(ints of the snapshot).
    void add(std::int32_t tick, snapshot_view state);
    /// Makes every row complete. Only begin() may follow it.
    void close_all();
    /// Makes the rows complete of items that the last snapshot has not.
    void close_gone();

    /// The rows of one of item_tables(), and the layout of its items.
    [[nodiscard]] table_rows const& rows(std::size_t table) const noexcept { return tables_[table].rows; }
    [[nodiscard]] item_layout const* layout(std::size_t table) const noexcept { return tables_[table].layout; }
    [[nodiscard]] std::size_t other_count() const noexcept { return others_.size(); }
    [[nodiscard]] other_item other(std::size_t number) const noexcept;

    /// Bytes of all rows, complete or not.
    [[nodiscard]] std::size_t bytes() const noexcept;
    void drop_complete() noexcept;

private:
    struct known_table {
        item_layout const* layout = nullptr; // in this recording
        table_rows rows;
    };
    // Where items of a type go.
    struct target {
        known_table* table = nullptr;
        std::uint32_t other = 0; // place in other_names_, without a table
    };
    struct alias {
        uuid meaning{};
        target where;
        std::uint64_t looked_up = 0; // snapshot
    };

    target resolve(snapshot_view state, std::uint16_t type);
    target known_target(object const& known);
    target other_target(std::string const& name);
    void take_other(std::uint32_t name, item const& i, std::int32_t tick);
    void add_other(std::uint32_t name, std::uint16_t id, std::int32_t first_tick, std::int32_t last_tick,
                   std::span<std::int32_t const> ints);

    struct open_other {
        std::int32_t first_tick;
        std::int32_t last_tick;
        std::vector<std::int32_t> ints;
    };
    struct complete_other {
        std::uint32_t name;
        std::uint16_t id;
        std::int32_t first_tick;
        std::int32_t last_tick;
        std::vector<std::int32_t> ints;
    };

    protocol protocol_ = protocol::ddnet;
    std::vector<known_table> tables_;
    std::array<target, sized_types> plain_{}; // if known
    std::vector<alias> aliases_;
    std::map<std::string, std::uint32_t> other_numbers_;
    std::vector<std::string_view> other_names_; // the keys of that
    std::map<std::pair<std::uint32_t, std::uint16_t>, open_other> open_others_;
    std::vector<complete_other> others_;
    std::size_t open_other_bytes_ = 0;
    std::size_t other_bytes_ = 0;
    std::int32_t before_ = -1; // tick of the last snapshot
    std::uint64_t snapshots_ = 0;
};

} // namespace teewire::replay
