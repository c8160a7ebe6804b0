#include "check.hpp"

#include <set>

using namespace teewire;
using test::error_of;

TEST_CASE("every error code has its own sentence") {
    std::set<std::string_view> sentences;
    for (int code = 0; code <= static_cast<int>(errc::closed); ++code) {
        auto const sentence = describe(static_cast<errc>(code));
        CHECK(sentence.size() > 5);
        CHECK(sentence != "unknown error");
        sentences.insert(sentence);
    }
    CHECK(sentences.size() == 26);
    CHECK(describe(errc::ok) == "no error");
    CHECK(describe(static_cast<errc>(255)) == "unknown error");
    CHECK(sizeof(errc) == 1);
    CHECK(static_cast<int>(errc::ok) == 0);
}

TEST_CASE("every note has its own sentence") {
    std::set<std::string_view> sentences;
    for (std::size_t kind = 0; kind < note_count; ++kind) {
        auto const sentence = describe(static_cast<note>(kind));
        CHECK(sentence.size() > 5);
        CHECK(sentence != "unknown note");
        sentences.insert(sentence);
    }
    CHECK(sentences.size() == note_count);
    CHECK(static_cast<std::size_t>(note::packet_flags) + 1 == note_count);
    CHECK(describe(static_cast<note>(note_count)) == "unknown note");
}

TEST_CASE("a result holds a value or a failure") {
    result<int> const good = 42;
    CHECK(good.has_value());
    CHECK(static_cast<bool>(good));
    CHECK(*good == 42);
    CHECK(good.value() == 42);

    result<int> const bad = failure{errc::truncated, 7};
    CHECK_FALSE(bad.has_value());
    CHECK_FALSE(static_cast<bool>(bad));
    CHECK(bad.error() == failure{errc::truncated, 7});
    CHECK(bad.error() != failure{errc::truncated, 8});
    CHECK(bad.error() != failure{errc::bad_count, 7});
}

static_assert(*result<int>{3} == 3, "results work in constant expressions");
static_assert(result<int>{failure{errc::bad_id, 1}}.error().code == errc::bad_id);

TEST_CASE("a note log counts, and remembers the first of each kind") {
    note_log log;
    CHECK(log.empty());
    log.origin = 100;
    log.add(note::tick_order, 5);
    log.origin = 200;
    log.add(note::tick_order, 6);
    log.add(note::header_text, 7);
    CHECK_FALSE(log.empty());
    CHECK(log[note::tick_order].count == 2);
    CHECK(log[note::tick_order].origin == 100);
    CHECK(log[note::tick_order].position == 5);
    CHECK(log[note::header_text].count == 1);
    CHECK(log[note::header_text].origin == 200);
    CHECK(log[note::header_text].position == 7);
    CHECK(log[note::overlong_varint].count == 0);
}

TEST_CASE("a note log stops counting before it wraps") {
    note_log log;
    auto& entry = log.entries[static_cast<std::size_t>(note::dirty_varint)];
    entry.count = UINT32_MAX - 1;
    entry.position = 9;
    log.add(note::dirty_varint, 1);
    CHECK(log[note::dirty_varint].count == UINT32_MAX);
    log.add(note::dirty_varint, 2);
    CHECK(log[note::dirty_varint].count == UINT32_MAX);
    CHECK(log[note::dirty_varint].position == 9);
}
