// Writing JSON.
#pragma once

#include "base/text.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace teewire::replay {

using json_writer = rapidjson::Writer<rapidjson::StringBuffer>;

/// The text must be UTF-8.
inline void write_string(json_writer& json, std::string_view text) {
    json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}
/// An object that is written member by member. It ends where the writer's life does.
class object_writer {
public:
    explicit object_writer(json_writer& json) : json_{json} { json_.StartObject(); }
    object_writer(object_writer const&) = delete;
    object_writer& operator=(object_writer const&) = delete;
    ~object_writer() { json_.EndObject(); }

    /// Any bytes: invalid UTF-8 becomes U+FFFD.
    void text(std::string_view key, std::string_view value) { write_string(member(key), valid_utf8(value)); }
    void text_or_null(std::string_view key, std::string_view value) {
        if (value.empty()) null(key);
        else text(key, value);
    }
    template <std::integral T>
    void number(std::string_view key, T value) {
        member(key);
        write(value);
    }
    template <std::integral T>
    void number_or_null(std::string_view key, std::optional<T> value) {
        if (value) number(key, *value);
        else null(key);
    }
    void real(std::string_view key, double value) { member(key).Double(value); }
    /// Negative if there is none.
    void tick_or_null(std::string_view key, std::int32_t value) {
        if (value < 0) null(key);
        else number(key, value);
    }
    void flag(std::string_view key, bool value) { member(key).Bool(value); }
    void null(std::string_view key) { member(key).Null(); }
    template <class Values>
    void numbers(std::string_view key, Values const& values) {
        list(key, values, [this](json_writer&, auto const value) { this->write(value); });
    }
    /// `write` is given the json_writer and a value.
    template <class Values, class Write>
    void list(std::string_view key, Values const& values, Write&& write) {
        member(key).StartArray();
        for (auto const& value : values) write(json_, value);
        json_.EndArray();
    }
    /// A list of objects: `write` is given the object_writer of one and the value that it is of.
    template <class Values, class Write>
    void objects(std::string_view key, Values const& values, Write&& write) {
        list(key, values, [&](json_writer& json, auto const& value) {
            object_writer object{json};
            write(object, value);
        });
    }
    [[nodiscard]] object_writer object(std::string_view key) { return object_writer{member(key)}; }
    /// For a value of another kind, to be written next.
    json_writer& member(std::string_view key) {
        json_.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
        return json_;
    }

private:
    template <std::integral T>
    void write(T value) {
        static_assert(!std::is_same_v<T, bool>, "a flag is no number");
        if constexpr (std::is_signed_v<T>) json_.Int64(value);
        else json_.Uint64(value);
    }

    json_writer& json_;
};

/// Prints objects, each as a line. Keeps its memory from one to the next.
class json_line {
public:
    /// `write` is given the object_writer; `out` takes text.
    template <class Output, class Write>
    void print(Output& out, Write&& write) {
        text_.Clear();
        json_.Reset(text_);
        {
            object_writer object{json_};
            write(object);
        }
        text_.Put('\n');
        out.write({text_.GetString(), text_.GetSize()});
    }

private:
    rapidjson::StringBuffer text_;
    json_writer json_{text_};
};

} // namespace teewire::replay
