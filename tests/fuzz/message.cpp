// Messages and their fields: untrusted bytes, re-encoded messages, and fields of every kind written and read. The first
// byte chooses, with the protocol.
#include "fuzz.hpp"
#include "message_list.hpp"

#include <teewire/schema.hpp>

#include <vector>

using namespace teewire;
using fuzz::exact;
using fuzz::same;

namespace {

constexpr protocol protocols[] = {protocol::ddnet, protocol::teeworlds_07, protocol::teeworlds_06};

// A re-encoded message reads the same: then writing it once more gives the same bytes.
template <class T>
void write_again(T const& value, protocol p) {
    std::array<std::uint8_t, 8192> first, second;
    auto const written = encode(value, p, first);
    if (!written) {
        FUZZ_REQUIRE(written.error().code == errc::bad_type || written.error().code == errc::output_full);
        return;
    }
    exact<std::uint8_t> const bytes{*written};
    auto const head = parse_message(bytes.view());
    FUZZ_REQUIRE(head && identify(*head, p) == T::type);
    auto const back = decode<T>(*head, p);
    FUZZ_REQUIRE(back);
    auto const again = encode(*back, p, second);
    FUZZ_REQUIRE(again && same(*again, bytes.view()));
    // One byte less, and nothing is written beyond.
    exact<std::uint8_t> const tight{bytes.view().size() - 1};
    auto const cut = encode(value, p, tight.span());
    FUZZ_REQUIRE(!cut && cut.error().code == errc::output_full);
}

void read_message(fuzz::bytes_view bytes, protocol p) {
    auto const head = parse_message(bytes);
    if (!head) return FUZZ_REQUIRE(head.error().position <= bytes.size());
    message_type const type = identify(*head, p);
    auto const& known = describe(type);
    if (type != message_type::unknown) FUZZ_REQUIRE(known.system == head->system && known.type == type);
    auto const game = decode_game_message(*head, p);
    if (!game) FUZZ_REQUIRE(game.error().position <= head->fields.size());
    if (type == message_type::snap || type == message_type::snap_single || type == message_type::snap_empty) {
        auto const snap = decode_snap(*head, p);
        if (!snap) return FUZZ_REQUIRE(snap.error().position <= head->fields.size());
        FUZZ_REQUIRE(snap->tick >= 0 && snap->tick > snap->base_tick && snap->base_tick >= -1);
        FUZZ_REQUIRE(snap->part >= 0 && snap->part < snap->parts && snap->parts <= 64 && snap->data.size() <= 900);
    }
    test::with_type(type, [&]<class T>(T) {
        auto const value = decode<T>(*head, p);
        if (!value) return FUZZ_REQUIRE(value.error().position <= head->fields.size());
        write_again(*value, p);
    });
}

// Reads what the bytes say to read, then writes it: the same fields come back.
void write_fields(fuzz::input in) {
    exact<std::uint8_t> const memory{static_cast<std::size_t>(in.word()) % 600};
    fuzz::input copy = in;
    packer out{memory.span()};
    std::vector<std::string_view> texts;
    std::size_t needed = 0;
    auto const text_of = [](fuzz::bytes_view bytes) {
        std::string_view const all{reinterpret_cast<char const*>(bytes.data()), bytes.size()};
        return all.substr(0, all.find('\0'));
    };
    while (!in.empty()) {
        std::uint8_t const kind = in.byte();
        if (kind % 3 == 0) {
            std::int32_t const value = in.integer();
            needed += varint_size(value);
            out.add_int(value);
        } else {
            auto const bytes = in.take(kind / 3);
            needed += kind % 3 == 1 ? text_of(bytes).size() + 1 : bytes.size();
            if (kind % 3 == 1) out.add_string(text_of(bytes));
            else out.add_raw(bytes);
        }
    }
    auto const written = out.finish();
    FUZZ_REQUIRE(written.has_value() == (needed <= memory.view().size()));
    if (!written) return FUZZ_REQUIRE(written.error().code == errc::output_full);
    FUZZ_REQUIRE(written->size() == needed);
    exact<std::uint8_t> const message{*written};
    unpacker fields{message.view()};
    while (!copy.empty()) {
        std::uint8_t const kind = copy.byte();
        if (kind % 3 == 0) {
            FUZZ_REQUIRE(fields.read_int() == copy.integer());
        } else {
            auto const bytes = copy.take(kind / 3);
            if (kind % 3 == 1) FUZZ_REQUIRE(fields.read_string() == text_of(bytes));
            else FUZZ_REQUIRE(same(fields.read_raw(bytes.size()), bytes));
        }
    }
    FUZZ_REQUIRE(fields.ok() && fields.rest().empty());
}

// The first byte says how many choose what to read.
void read_fields(fuzz::input in) {
    auto const choices = in.take(in.byte() % 32);
    exact<std::uint8_t> const message{in.rest()};
    unpacker fields{message.view()};
    for (std::uint8_t const kind : choices) {
        bool const was_good = fields.ok();
        std::size_t const before = fields.position();
        bool nothing = true;
        if (kind % 3 == 0) nothing = fields.read_int() == 0;
        else if (kind % 3 == 1) nothing = fields.read_string().empty();
        else nothing = fields.read_raw(kind / 3).empty();
        FUZZ_REQUIRE(fields.position() >= before && fields.position() <= message.view().size());
        if (!was_good) FUZZ_REQUIRE(!fields.ok() && nothing);
        if (!fields.ok()) FUZZ_REQUIRE(fields.error().position <= message.view().size());
    }
}

void item_text(fuzz::input in, protocol p) {
    std::size_t const ints = in.byte() % 12;
    // From ints to text and back.
    exact<std::int32_t> const values{ints};
    for (auto& value : values.span()) value = in.integer();
    exact<char> const memory{4 * ints};
    std::string_view const text = decode_text(values.view(), memory.span());
    FUZZ_REQUIRE(text.find('\0') == std::string_view::npos && (ints == 0 || text.size() < 4 * ints));
    exact<std::int32_t> const again{ints};
    encode_text(text, again.span());
    exact<char> const other{4 * ints};
    FUZZ_REQUIRE(decode_text(again.view(), other.span()) == text);
    // From text.
    auto const bytes = in.rest();
    std::string_view all{reinterpret_cast<char const*>(bytes.data()), bytes.size()};
    all = all.substr(0, all.find('\0'));
    if (ints > 0) {
        encode_text(all, again.span());
        FUZZ_REQUIRE(decode_text(again.view(), other.span()) == all.substr(0, std::min(all.size(), 4 * ints - 1)));
    }
    auto const* const by_name = find_object(p, all);
    FUZZ_REQUIRE(by_name == nullptr || by_name->name == all);
    FUZZ_REQUIRE(!name(p).empty());
    for (object const& o : extended_objects()) FUZZ_REQUIRE(o.is_extended() && find_object(o.extended) == &o);
    auto const* const by_type = find_object(p, static_cast<std::uint16_t>(bytes.size() % 40));
    FUZZ_REQUIRE(by_type == nullptr || by_type->type == bytes.size() % 40);
    if (by_type != nullptr)
        for (field const& f : by_type->fields) {
            FUZZ_REQUIRE(f.offset + f.ints * f.count <= by_type->ints);
            if (f.values != nullptr && ints > 0) static_cast<void>((*f.values)[values.view()[0]]);
        }
    auto const* const table = find_size_table(all);
    for (auto const& named : size_tables) FUZZ_REQUIRE((named.name == all) == (table == named.sizes));
}

void run_target(fuzz::bytes_view data) {
    fuzz::input in{data};
    std::uint8_t const what = in.byte();
    protocol const p = protocols[what / 8 % std::size(protocols)];
    switch (what % 8) {
    case 5: write_fields(in); break;
    case 6: read_fields(in); break;
    case 7: item_text(in, p); break;
    default: {
        exact<std::uint8_t> const bytes{in.rest()};
        read_message(bytes.view(), p);
    }
    }
}

} // namespace

FUZZ_TARGET("message", run_target)
