// Files of columns: Apache Arrow's IPC file format.
#pragma once

#include "base/column.hpp"
#include "base/output_file.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

/// Values of one column, of which each may be null.
class arrow_column {
public:
    explicit arrow_column(column_type type) : type_{type == column_type::tick ? column_type::int32 : type} {}

    void add(std::int32_t value); ///< int32 and boolean
    void add_long(std::int64_t value);
    void add_real(double value);
    void add(std::string_view value); ///< text and word
    void add_null() { add_nulls(1); }
    void add_nulls(std::size_t count);
    /// Room for so many values, none of which is null, to be filled: of int32, or numbers of words.
    [[nodiscard]] std::int32_t* add_ints(std::size_t count);

    /// The number of a word.
    [[nodiscard]] std::int32_t number_of(std::string_view word);

    /// int32 for ticks.
    [[nodiscard]] column_type type() const noexcept { return type_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Bytes of texts, which must stay below 2 GiB.
    [[nodiscard]] std::size_t text_bytes() const noexcept { return text_.size(); }
    [[nodiscard]] std::size_t words() const noexcept { return numbers_.size(); }

private:
    friend class arrow_file;
    void count_value();
    void mark_valid();
    void clear();

    column_type type_;
    std::size_t size_ = 0;
    std::size_t nulls_ = 0;
    std::vector<std::uint8_t> valid_; // a bit for each value, once one is null
    std::vector<std::int32_t> ints_;  // values, or places in the dictionary, or where each text ends
    std::vector<std::int64_t> longs_; // values, or the bits of real ones
    std::vector<std::uint8_t> bits_;
    std::string text_;
    std::map<std::string, std::int32_t, std::less<>> numbers_; // of words
    std::vector<std::string_view> words_;                      // by number
    std::string_view last_;                                    // word that was added
    std::int32_t last_number_ = -1;
};

/// A table that is written in batches of rows.
class arrow_file {
public:
    /// The names of the columns must outlive the file. Throws as output_file does, and so does everything else.
    arrow_file(output_choice const& to, std::vector<column> columns);

    /// To each of them the same number of values is to be added before add_batch() or finish().
    [[nodiscard]] arrow_column& at(std::size_t number) noexcept { return columns_[number]; }
    [[nodiscard]] std::size_t pending_rows() const noexcept { return columns_.front().size(); }
    /// Pending ones of the column that has most.
    [[nodiscard]] std::size_t text_bytes() const noexcept;
    /// Writes what the columns hold.
    void add_batch();
    /// The same if there is something, and gives the file its name.
    void finish();

private:
    struct block {
        std::int64_t offset;
        std::int32_t metadata_bytes;
        std::int64_t body_bytes;
    };
    struct body;

    void write(void const* bytes, std::size_t size);
    void pad();
    block write_message(std::uint8_t const* message, std::size_t size, body const* content);
    void write_dictionaries();
    void write_footer();

    output_file out_;
    std::vector<column> described_;
    std::vector<arrow_column> columns_;
    std::vector<block> dictionaries_;
    std::vector<block> batches_;
};

} // namespace teewire::replay
