#include "tables/arrow_file.hpp"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

namespace teewire::replay {
namespace {

using builder = flatbuffers::FlatBufferBuilder;
using offset = flatbuffers::Offset<void>;
template <class T>
using offset_of = flatbuffers::Offset<T>;

constexpr std::string_view magic = "ARROW1";
constexpr std::size_t alignment = 8;
constexpr std::int16_t version_5 = 4;

// Numbers of Arrow's schema: kinds of messages and types of columns.
enum : std::uint8_t { is_schema = 1, is_dictionary = 2, is_batch = 3 };
enum : std::uint8_t { type_int = 2, type_floating_point = 3, type_utf8 = 5, type_bool = 6 };

constexpr flatbuffers::voffset_t member(unsigned place) {
    return static_cast<flatbuffers::voffset_t>(4 + 2 * place);
}

constexpr std::size_t padded(std::size_t size) { return (size + alignment - 1) / alignment * alignment; }

offset int_type(builder& b, std::int32_t bits) {
    auto const start = b.StartTable();
    b.AddElement<std::int32_t>(member(0), bits, 0);
    b.AddElement<std::uint8_t>(member(1), 1, 0); // signed
    return b.EndTable(start);
}
offset real_type(builder& b) {
    constexpr std::int16_t double_precision = 2;
    auto const start = b.StartTable();
    b.AddElement<std::int16_t>(member(0), double_precision, 0);
    return b.EndTable(start);
}
offset empty_table(builder& b) { return b.EndTable(b.StartTable()); }

std::uint8_t kind_of(column_type type) {
    switch (type) {
    case column_type::int32:
    case column_type::tick:
    case column_type::int64: return type_int;
    case column_type::real: return type_floating_point;
    case column_type::boolean: return type_bool;
    case column_type::text:
    case column_type::word: return type_utf8;
    }
    return 0;
}

offset_of<flatbuffers::Table> make_field(builder& b, column const& f, std::int64_t number) {
    auto const name = b.CreateString(f.name.data(), f.name.size());
    bool const is_int = f.type == column_type::int32 || f.type == column_type::tick;
    offset const type = is_int                         ? int_type(b, 32)
                        : f.type == column_type::int64 ? int_type(b, 64)
                        : f.type == column_type::real  ? real_type(b)
                                                       : empty_table(b);
    offset dictionary{};
    if (f.type == column_type::word) {
        offset const index = int_type(b, 32);
        auto const start = b.StartTable();
        b.AddElement<std::int64_t>(member(0), number, 0);
        b.AddOffset(member(1), index);
        dictionary = b.EndTable(start);
    }
    auto const children = b.CreateVector(std::vector<offset_of<flatbuffers::Table>>{});
    auto const start = b.StartTable();
    b.AddOffset(member(0), name);
    b.AddElement<std::uint8_t>(member(1), 1, 0); // may be null
    b.AddElement<std::uint8_t>(member(2), kind_of(f.type), 0);
    b.AddOffset(member(3), type);
    if (!dictionary.IsNull()) b.AddOffset(member(4), dictionary);
    b.AddOffset(member(5), children);
    return {b.EndTable(start)};
}

offset make_schema(builder& b, std::vector<column> const& fields) {
    std::vector<offset_of<flatbuffers::Table>> made;
    for (std::size_t n = 0; n < fields.size(); ++n)
        made.push_back(make_field(b, fields[n], static_cast<std::int64_t>(n)));
    auto const all = b.CreateVector(made);
    auto const start = b.StartTable();
    b.AddOffset(member(1), all);
    return {b.EndTable(start)};
}

void finish_message(builder& b, std::uint8_t kind, offset header, std::size_t body_bytes) {
    auto const start = b.StartTable();
    b.AddElement<std::int64_t>(member(3), static_cast<std::int64_t>(body_bytes), 0);
    b.AddOffset(member(2), header);
    b.AddElement<std::int16_t>(member(0), version_5, 0);
    b.AddElement<std::uint8_t>(member(1), kind, 0);
    b.Finish(offset_of<flatbuffers::Table>{b.EndTable(start)});
}

// Structs of Arrow's schema; numbers are little-endian.
struct field_node {
    std::int64_t length;
    std::int64_t nulls;
};
struct buffer_place {
    std::int64_t offset;
    std::int64_t length;
};
struct file_block {
    std::int64_t offset;
    std::int32_t metadata_bytes;
    std::int32_t unused;
    std::int64_t body_bytes;
};

template <class T>
T little(T value) {
    return flatbuffers::EndianScalar(value);
}

template <class T>
void to_little(std::vector<T>& values) {
    if constexpr (std::endian::native == std::endian::big)
        for (T& v : values) v = little(v);
}

template <class T>
std::span<std::uint8_t const> bytes_of(std::vector<T> const& values) {
    return {reinterpret_cast<std::uint8_t const*>(values.data()), values.size() * sizeof(T)};
}
std::span<std::uint8_t const> bytes_of(std::string_view text) {
    return {reinterpret_cast<std::uint8_t const*>(text.data()), text.size()};
}

} // namespace

// ---- columns -------------------------------------------------------------------------------------------------------

// From now on there are nulls.
void arrow_column::mark_valid() {
    valid_.assign(size_ / 8 + 1, 0xff);
    valid_.back() = static_cast<std::uint8_t>((1U << size_ % 8) - 1);
}

// One that is not null.
void arrow_column::count_value() {
    if (nulls_ != 0) {
        if (size_ / 8 >= valid_.size()) valid_.push_back(0);
        valid_[size_ / 8] = static_cast<std::uint8_t>(valid_[size_ / 8] | 1U << size_ % 8);
    }
    ++size_;
}

void arrow_column::add(std::int32_t value) {
    if (type_ == column_type::boolean) {
        if (size_ % 8 == 0) bits_.push_back(0);
        if (value != 0) bits_.back() = static_cast<std::uint8_t>(bits_.back() | 1U << size_ % 8);
    } else {
        ints_.push_back(value);
    }
    count_value();
}

void arrow_column::add_long(std::int64_t value) {
    longs_.push_back(value);
    count_value();
}

void arrow_column::add_real(double value) { add_long(std::bit_cast<std::int64_t>(value)); }

void arrow_column::add(std::string_view value) {
    if (type_ == column_type::text) {
        text_ += value;
        ints_.push_back(static_cast<std::int32_t>(text_.size()));
    } else {
        if (last_number_ < 0 || value != last_) {
            last_number_ = number_of(value);
            last_ = words_[static_cast<std::size_t>(last_number_)];
        }
        ints_.push_back(last_number_);
    }
    count_value();
}

std::int32_t arrow_column::number_of(std::string_view word) {
    auto found = numbers_.find(word);
    if (found == numbers_.end()) {
        found = numbers_.emplace(word, static_cast<std::int32_t>(words_.size())).first;
        words_.push_back(found->first);
    }
    return found->second;
}

void arrow_column::add_nulls(std::size_t count) {
    if (count == 0) return;
    if (nulls_ == 0) mark_valid();
    nulls_ += count;
    size_ += count;
    valid_.resize(size_ / 8 + 1);
    switch (type_) {
    case column_type::int32:
    case column_type::tick:
    case column_type::word: ints_.resize(size_); break;
    case column_type::int64:
    case column_type::real: longs_.resize(size_); break;
    case column_type::text: ints_.resize(size_, static_cast<std::int32_t>(text_.size())); break;
    case column_type::boolean: bits_.resize((size_ + 7) / 8); break;
    }
}

std::int32_t* arrow_column::add_ints(std::size_t count) {
    std::size_t const before = ints_.size();
    ints_.resize(before + count);
    std::size_t const first = std::exchange(size_, size_ + count);
    if (nulls_ != 0) {
        valid_.resize(size_ / 8 + 1);
        for (std::size_t n = first; n < size_; ++n)
            valid_[n / 8] = static_cast<std::uint8_t>(valid_[n / 8] | 1U << n % 8);
    }
    return ints_.data() + before;
}

void arrow_column::clear() {
    size_ = nulls_ = 0;
    valid_.clear();
    ints_.clear();
    longs_.clear();
    bits_.clear();
    text_.clear();
}

// ---- the file ------------------------------------------------------------------------------------------------------

// The data after a message's metadata: buffers one after the other, each padded.
struct arrow_file::body {
    std::size_t rows = 0;
    std::vector<field_node> nodes;
    std::vector<buffer_place> places;
    std::vector<std::span<std::uint8_t const>> buffers;
    std::size_t bytes = 0;

    void add(std::span<std::uint8_t const> buffer) {
        places.push_back(
            {little(static_cast<std::int64_t>(bytes)), little(static_cast<std::int64_t>(buffer.size()))});
        buffers.push_back(buffer);
        bytes += padded(buffer.size());
    }
    void add_node(std::size_t length, std::size_t nulls) {
        nodes.push_back({little(static_cast<std::int64_t>(length)), little(static_cast<std::int64_t>(nulls))});
    }
    [[nodiscard]] offset header(builder& b) const {
        auto const all_places = b.CreateVectorOfStructs(places);
        auto const all_nodes = b.CreateVectorOfStructs(nodes);
        auto const start = b.StartTable();
        b.AddElement<std::int64_t>(member(0), static_cast<std::int64_t>(rows), 0);
        b.AddOffset(member(1), all_nodes);
        b.AddOffset(member(2), all_places);
        return {b.EndTable(start)};
    }
};

arrow_file::arrow_file(output_choice const& to, std::vector<column> columns)
    : out_{to, content::binary}, described_{std::move(columns)} {
    for (column const& f : described_) columns_.emplace_back(f.type);
    write(magic.data(), magic.size());
    pad();
    builder b;
    finish_message(b, is_schema, make_schema(b, described_), 0);
    static_cast<void>(write_message(b.GetBufferPointer(), b.GetSize(), nullptr));
}

void arrow_file::write(void const* bytes, std::size_t size) {
    out_.write({static_cast<std::uint8_t const*>(bytes), size});
}

void arrow_file::pad() {
    constexpr char zeros[alignment] = {};
    write(zeros, padded(out_.size()) - out_.size());
}

arrow_file::block arrow_file::write_message(std::uint8_t const* message, std::size_t size, body const* content) {
    std::uint32_t const head[] = {0xffffffff, little(static_cast<std::uint32_t>(padded(size)))};
    block const written{static_cast<std::int64_t>(out_.size()),
                        static_cast<std::int32_t>(sizeof head + padded(size)),
                        static_cast<std::int64_t>(content != nullptr ? content->bytes : 0)};
    write(head, sizeof head);
    write(message, size);
    pad();
    if (content == nullptr) return written;
    for (auto const buffer : content->buffers) {
        write(buffer.data(), buffer.size());
        pad();
    }
    return written;
}

std::size_t arrow_file::text_bytes() const noexcept {
    std::size_t most = 0;
    for (arrow_column const& c : columns_) most = std::max(most, c.text_bytes());
    return most;
}

void arrow_file::add_batch() {
    body content;
    content.rows = pending_rows();
    for (arrow_column& c : columns_) {
        content.add_node(c.size_, c.nulls_);
        content.add(bytes_of(c.valid_));
        switch (c.type_) {
        case column_type::int32:
        case column_type::tick:
        case column_type::word:
            to_little(c.ints_);
            content.add(bytes_of(c.ints_));
            break;
        case column_type::int64:
        case column_type::real:
            to_little(c.longs_);
            content.add(bytes_of(c.longs_));
            break;
        case column_type::boolean: content.add(bytes_of(c.bits_)); break;
        case column_type::text:
            c.ints_.insert(c.ints_.begin(), 0); // where the first one begins
            to_little(c.ints_);
            content.add(bytes_of(c.ints_));
            content.add(bytes_of(c.text_));
            break;
        }
    }
    builder b;
    finish_message(b, is_batch, content.header(b), content.bytes);
    batches_.push_back(write_message(b.GetBufferPointer(), b.GetSize(), &content));
    for (arrow_column& c : columns_) c.clear();
}

// At the end, when all words are known: the footer says where they are.
void arrow_file::write_dictionaries() {
    for (std::size_t n = 0; n < columns_.size(); ++n) {
        if (described_[n].type != column_type::word) continue;
        std::vector<std::int32_t> ends{0};
        std::string text;
        for (std::string_view const word : columns_[n].words_) {
            text += word;
            ends.push_back(static_cast<std::int32_t>(text.size()));
        }
        to_little(ends);
        body content;
        content.rows = columns_[n].words_.size();
        content.add_node(content.rows, 0);
        content.add({});
        content.add(bytes_of(ends));
        content.add(bytes_of(text));
        builder b;
        offset const data = content.header(b);
        auto const start = b.StartTable();
        b.AddElement<std::int64_t>(member(0), static_cast<std::int64_t>(n), 0);
        b.AddOffset(member(1), data);
        finish_message(b, is_dictionary, {b.EndTable(start)}, content.bytes);
        dictionaries_.push_back(write_message(b.GetBufferPointer(), b.GetSize(), &content));
    }
}

void arrow_file::write_footer() {
    builder b;
    auto const blocks = [&](std::vector<block> const& all) {
        std::vector<file_block> made;
        made.reserve(all.size());
        for (block const& x : all)
            made.push_back({little(x.offset), little(x.metadata_bytes), 0, little(x.body_bytes)});
        return b.CreateVectorOfStructs(made);
    };
    auto const batches = blocks(batches_);
    auto const dictionaries = blocks(dictionaries_);
    offset const schema = make_schema(b, described_);
    auto const start = b.StartTable();
    b.AddOffset(member(1), schema);
    b.AddOffset(member(2), dictionaries);
    b.AddOffset(member(3), batches);
    b.AddElement<std::int16_t>(member(0), version_5, 0);
    b.Finish(offset_of<flatbuffers::Table>{b.EndTable(start)});
    std::uint32_t const end_of_stream[] = {0xffffffff, 0};
    write(end_of_stream, sizeof end_of_stream);
    write(b.GetBufferPointer(), b.GetSize());
    std::uint32_t const size = little(static_cast<std::uint32_t>(b.GetSize()));
    write(&size, sizeof size);
    write(magic.data(), magic.size());
}

void arrow_file::finish() {
    if (pending_rows() != 0) add_batch();
    write_dictionaries();
    write_footer();
    out_.finish_as_named();
}

} // namespace teewire::replay
