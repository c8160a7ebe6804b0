// Demos as files: written by what records, decoded in segments; and the text that is printed of what is in them.
#include "demos.hpp"
#include "scene.hpp"
#include "temporary_file.hpp"

#include "base/errors.hpp"
#include "base/output.hpp"
#include "base/unique_fd.hpp"
#include "cli/folders.hpp"
#include "recording/demo/demo_document.hpp"
#include "recording/demo/demo_file.hpp"
#include "recording/demo/demo_follower.hpp"
#include "recording/open_recording.hpp"

#include <teewire/packer.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

using namespace teewire;
using namespace teewire::replay;

namespace {

/// The chunks of a demo that nothing can be left out of: full snapshots all the time.
test::bytes chunks(std::int32_t first, std::int32_t last) {
    test::recorder to;
    std::size_t const head = to.file().size();
    test::random rng{static_cast<std::uint64_t>(first)};
    for (std::int32_t tick = first; tick <= last; tick += 2) {
        test::plain_items items;
        for (std::uint16_t id = 0; id < 60; ++id) {
            test::plain_item i{make_key(40, id), test::ints(12)};
            for (auto& value : i.data) value = rng.value();
            items.push_back(i);
        }
        to.snapshot(tick, items);
    }
    auto const& file = to.finish();
    return {file.begin() + static_cast<std::ptrdiff_t>(head), file.end()};
}

test::bytes demo_of(std::vector<test::bytes> const& parts) {
    test::recorder empty;
    test::bytes file = empty.file();
    for (auto const& part : parts) test::append(file, part);
    return file;
}

/// The ticks of what comes, and -1 for a beginning.
class tick_list final : public segment_sink {
public:
    explicit tick_list(std::vector<std::int32_t>& to) : to_{to} {}
    void put(stream_event const& event) override {
        if (event.kind != event_kind::tick) ticks_.push_back(event.tick); // segments leave these out
    }
    [[nodiscard]] std::size_t size() const noexcept override { return ticks_.size(); }
    void deliver() override {
        for (std::int32_t const tick : ticks_)
            if (tick >= 0 || to_.empty()) to_.push_back(tick); // each sink gets the beginning
        ticks_.clear();
    }

private:
    std::vector<std::int32_t>& to_;
    std::vector<std::int32_t> ticks_;
};

decoded decode_with(demo_document const& demo, unsigned jobs) {
    workers team{jobs};
    auto const all = decode(demo, team, {});
    team.join();
    return all;
}

} // namespace

TEST_CASE("segments find the ticks that do not increase, as one player does") {
    test::scratch_folder const here{"files"};
    auto const first = chunks(100, 160);
    struct {
        std::int32_t begin;
        std::uint32_t notes; // at the begin of the second part
    } const variants[] = {{162, 0}, {161, 0}, {160, 1}, {159, 1}, {20, 1}};
    for (auto const& v : variants) {
        CAPTURE(v.begin);
        auto const file = demo_of({first, chunks(v.begin, v.begin + 60), chunks(v.begin + 70, v.begin + 130)});
        input const source{here.store("parts.demo", file)};
        demo_document const demo{source};
        REQUIRE(demo.keyframes().size() >= 3);
        auto const alone = decode_with(demo, 1);
        auto const together = decode_with(demo, 4);
        CHECK_FALSE(alone.failed());
        CHECK(alone.snapshots == 93);
        CHECK(together.snapshots == 93);
        CHECK(alone.notes[note::tick_order].count == v.notes);
        CHECK(together.notes[note::tick_order].count == v.notes);
        CHECK(test::same(alone.notes, together.notes));
    }
}

TEST_CASE("segments: damage is found in the place where one player finds it, and nothing behind it counts") {
    test::scratch_folder const here{"files"};
    auto good = demo_of({chunks(100, 200), chunks(300, 400), chunks(500, 600)});
    std::size_t const second = demo_of({chunks(100, 200)}).size();
    std::size_t const third = demo_of({chunks(100, 200), chunks(300, 400)}).size();
    for (std::size_t const at : {second + 2000, third + 2000}) {
        CAPTURE(at);
        auto bad = good;
        std::fill_n(bad.begin() + static_cast<std::ptrdiff_t>(at), 40, std::uint8_t{0xff});
        input const source{here.store("bad.demo", bad)};
        demo_document const demo{source};
        auto const alone = decode_with(demo, 1);
        auto const together = decode_with(demo, 4);
        REQUIRE(alone.failed());
        REQUIRE(together.failed());
        CHECK(alone.error.what == together.error.what);
        CHECK(alone.error.position == together.error.position);
        CHECK(alone.error.tick == together.error.tick);
        CHECK(alone.snapshots == together.snapshots);
        CHECK(alone.messages == together.messages);
        CHECK(test::same(alone.notes, together.notes));
    }
}

TEST_CASE("an opened recording gives the same in each way, and damage without its name") {
    test::scratch_folder const here{"files"};
    auto file = demo_of({chunks(100, 200), chunks(300, 400)});
    auto const second = static_cast<std::ptrdiff_t>(demo_of({chunks(100, 200)}).size());
    std::fill_n(file.begin() + second + 2000, 40, std::uint8_t{0xff});
    std::string const path = here.store("bad.demo", file);
    std::vector<std::int32_t> pulled, pushed, parts;
    open_recording first{path};
    auto const stream = first.events();
    for (stream_event event; stream->next(event);)
        if (event.kind != event_kind::tick) pulled.push_back(event.tick);
    std::string const why = stream->error();
    CHECK(why.starts_with("tick "));
    tick_list sink{pushed};
    CHECK(open_recording{path}.read_all(sink) == why);
    sink.deliver();
    workers team{4};
    std::atomic<std::uint64_t> done_bytes = 0;
    open_recording third{path, {.sizes = size_detection::assume}};
    CHECK(third.read_segments(
              team, [&] { return std::make_unique<tick_list>(parts); },
              [](recording_info const&) { return tick_range{}; }, done_bytes) == why);
    CHECK(pulled.size() > 50);
    CHECK(pulled.front() == -1);
    CHECK(pushed == pulled);
    CHECK(parts == pulled);
    CHECK(done_bytes == file.size());
    try {
        open_recording{here.store("x.demo", test::bytes{1, 2, 3})};
        FAIL("it is not a demo");
    } catch (usage_error const& e) {
        CHECK(e.reason() == "byte 0: not a demo or a packet capture");
    }
}

TEST_CASE("a recording holds what is vital, and the one message that is not") {
    test::scratch_folder const here{"files"};
    served_map const map{"dm1", 0x11223344, 0, {}};
    auto const full = test::layout({{make_key(5, 0), {1, 2, 3}}});
    messages::chat chat;
    chat.client_id = 1;
    chat.text = "hello";
    std::array<std::uint8_t, 256> memory;
    auto const bytes = *encode(chat, protocol::ddnet, memory);
    std::array<std::uint8_t, 64> early;
    packer out{early};
    out.add_int(0).add_raw(describe(message_type::pre_input).extended.bytes).add_int(1).add_int(2);
    auto const pre_input = *out.finish();
    auto const pre = *parse_message(pre_input);
    REQUIRE(identify(pre, protocol::ddnet) == message_type::pre_input);

    demo_target target{{here.name("a.demo"), false}};
    demo_file file{target.next(), protocol::ddnet, map, {}};
    file.write_message(bytes, true); // before the first snapshot, and written after it
    CHECK(file.messages() == 0);
    CHECK(file.write_snapshot(100, test::view_of(full)));
    CHECK(file.messages() == 1);
    std::uint64_t const size = file.size();
    file.write_message(bytes, false);
    CHECK(file.messages() == 1);
    CHECK(file.size() == size);
    file.write_message(bytes, true);
    CHECK(file.messages() == 2);
    file.write_message(pre_input, false);
    CHECK(file.messages() == 3);
    CHECK(file.finish());

    input const source{here.name("a.demo")};
    demo_document const demo{source};
    auto const all = decode_with(demo, 1);
    CHECK(all.messages == 3);
    CHECK(all.snapshots == 1);
}

TEST_CASE("a recording goes to its file as it comes") {
    test::scratch_folder const here{"files"};
    demo_target target{{here.name("a.demo"), false}};
    demo_file file{target.next(), protocol::ddnet, {"dm1", 0x11223344, 0, {}}, {}};
    test::random rng{1};
    for (std::int32_t tick = 0; file.size() < 400'000; tick += 2) {
        test::plain_items items;
        for (std::uint16_t id = 0; id < 100; ++id) {
            test::plain_item i{make_key(40, id), test::ints(12)};
            for (auto& value : i.data) value = rng.value();
            items.push_back(i);
        }
        auto const full = test::layout(items);
        REQUIRE(file.write_snapshot(tick, test::view_of(full)));
    }
    std::uintmax_t stored = 0;
    for (auto const& entry : std::filesystem::directory_iterator{here.name("")}) stored += entry.file_size();
    CHECK(stored > file.size() - 100'000);
    CHECK(stored < file.size()); // but not in the smallest of pieces
    CHECK(file.finish());
    CHECK(std::filesystem::file_size(here.name("a.demo")) == file.size());
}

TEST_CASE("what a header says of the protocol counts until the items say otherwise") {
    test::script demo{"server", protocol::teeworlds_06};
    for (std::int32_t tick = 100; tick < 120; tick += 2) {
        test::scene scene{protocol::teeworlds_06};
        scene.add("game_info", 0, {});
        scene.add("character", 0, {{"tick", tick}});
        demo.snapshot(tick, scene);
    }
    test::bytes bytes = test::copy_of(demo.bytes());
    for (bool const lies : {false, true}) {
        CAPTURE(lies);
        if (lies) std::copy_n(net_version_07.begin(), net_version_07.size(), bytes.begin() + 8);
        test::temporary_file const file{bytes};
        input const source{file.path()};
        demo_document const known{source};
        CHECK(known.header().says_07() == lies);
        CHECK_FALSE(known.sizes_assumed());
        CHECK(known.item_protocol() == protocol::teeworlds_06);
        demo_document const assumed{source, size_detection::assume};
        CHECK(assumed.sizes_assumed() == lies);
        CHECK((assumed.item_protocol() == protocol::teeworlds_07) == lies);
    }
}

TEST_CASE("a recording may begin with tick 0") {
    test::scratch_folder const here{"files"};
    demo_target target{{here.name("a.demo"), false}};
    demo_file file{target.next(), protocol::ddnet, {"dm1", 0x11223344, 0, {}}, {}};
    auto const full = test::layout({{make_key(5, 0), {1, 2, 3}}});
    for (std::int32_t const tick : {0, 2, 4}) CHECK(file.write_snapshot(tick, test::view_of(full)));
    CHECK(file.first_tick() == 0);
    CHECK(file.last_tick() == 4);
}

TEST_CASE("what was before the first tick is not at tick 0") {
    demo_failure failed{{errc::truncated, 3}, demo_stage::chunk, -1, 7};
    CHECK(explain(failed).starts_with("before the first tick, byte 7: "));
    failed.tick = 0;
    CHECK(explain(failed).starts_with("tick 0, byte 7: "));
}

TEST_CASE("a client of 0.7 that leaves is named, if there can be one of that number") {
    test::scratch_folder const here{"files"};
    demo_target target{{here.name("a.demo"), false}};
    demo_file file{target.next(), protocol::teeworlds_07, {"dm1", 0x11223344, 0, {}}, {}};
    std::array<std::uint8_t, 512> memory;
    auto const say = [&](auto const& value) {
        auto const bytes = *encode(value, protocol::teeworlds_07, memory);
        file.write_message(bytes, true);
    };
    // Every message about clients, so that data after the last one is there, too.
    for (std::int32_t id = 0; id < 64; ++id) {
        messages::client_info info;
        info.client_id = id;
        info.name = "tee";
        info.silent = true;
        say(info);
    }
    messages::game_info game;
    game.score_limit = 20;
    say(game);
    CHECK(file.write_snapshot(100, test::view_of(test::layout({{make_key(5, 0), {1, 2, 3}}}))));
    for (std::int32_t const id : {-1, 64, 65, 1000}) {
        messages::client_drop drop;
        drop.client_id = id;
        say(drop);
    }
    CHECK(file.messages() == 0);
    messages::client_drop drop;
    drop.client_id = 63;
    say(drop);
    CHECK(file.messages() == 1);
}

TEST_CASE("text for people has no control characters and no bytes that are no UTF-8") {
    std::string const bad = "\xef\xbf\xbd";
    struct {
        std::string_view given;
        std::string valid; // for JSON
    } const texts[] = {
        {"abc", "abc"},
        {"\xc3\xa9", "\xc3\xa9"},
        {"\xc2\xa0", "\xc2\xa0"},                    // the first that is not a control
        {"\xdf\xbf", "\xdf\xbf"},                    // the last of two bytes
        {"\xe0\xa0\x80", "\xe0\xa0\x80"},            // the first of three
        {"\xef\xbf\xbf", "\xef\xbf\xbf"},            // the last
        {"\xf0\x90\x80\x80", "\xf0\x90\x80\x80"},    // the first of four
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},    // the last there is
        {"\xf4\x90\x80\x80", bad + bad + bad + bad}, // after it
        {"\xf5\x80\x80\x80", bad + bad + bad + bad},
        {"\xc0\x80", bad + bad}, // overlong
        {"\xc1\xbf", bad + bad},
        {"\xe0\x80\x80", bad + bad + bad},
        {"\xe0\x9f\xbf", bad + bad + bad},
        {"\xf0\x80\x80\x80", bad + bad + bad + bad},
        {"\xf0\x8f\xbf\xbf", bad + bad + bad + bad},
        {"\xed\x9f\xbf", "\xed\x9f\xbf"},
        {"\xed\xa0\x80", bad + bad + bad}, // surrogates
        {"\xed\xbf\xbf", bad + bad + bad},
        {"\xee\x80\x80", "\xee\x80\x80"},
        {"\x80", bad},
        {"\xbf", bad},
        {"\xff", bad},
        {"\xc3", bad}, // cut
        {"\xc3(", bad + "("},
        {"\xe3\x81", bad + bad},
        {"\xe3(\x81", bad + "(" + bad},
        {"\xf0\x9f\x98", bad + bad + bad},
        {"\xe3\x81\xc3\xa9", bad + bad + "\xc3\xa9"},
    };
    for (auto const& t : texts) {
        CAPTURE(test::hex({reinterpret_cast<std::uint8_t const*>(t.given.data()), t.given.size()}));
        CHECK(valid_utf8(t.given) == t.valid);
        CHECK(printable(t.given) == t.valid);
        CHECK(valid_utf8("a" + std::string{t.given} + "b") == "a" + t.valid + "b");
    }
    // Only JSON keeps controls of C0 and C1, as numbers.
    for (int c = 0; c < 0xa0; ++c) {
        bool const control = c < 0x20 || c >= 0x7f;
        std::string const text =
            c < 0x80 ? std::string(1, static_cast<char>(c)) : std::string{'\xc2', static_cast<char>(c)};
        CAPTURE(c);
        CHECK(valid_utf8(text) == text);
        if (!control) CHECK(printable(text) == text);
        else CHECK(printable("a" + text + "b").find(text) == std::string::npos);
    }
}

TEST_CASE("a descriptor is closed once, by its last owner") {
    auto const is_open = [](int descriptor) { return ::fcntl(descriptor, F_GETFD) != -1; };
    int const first = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    int const second = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    {
        unique_fd a{first};
        {
            unique_fd b{std::move(a)};
            CHECK(b.get() == first);
            CHECK(is_open(first));
            a = std::move(b);
        }
        CHECK(is_open(first));
        a = unique_fd{second};
        CHECK_FALSE(is_open(first));
        CHECK(is_open(second));
    }
    CHECK_FALSE(is_open(second));
    CHECK_FALSE(unique_fd{});
}

TEST_CASE("what cannot be followed is closed again") {
    test::scratch_folder const here{"unfollowed"};
    int const next = ::dup(STDERR_FILENO); // the lowest that is free
    ::close(next);
    CHECK_THROWS_AS((demo_follower{here.path().string(), [] {}}), io_error);
    unique_fd const again{::dup(STDERR_FILENO)};
    CHECK(again.get() == next);
}

TEST_CASE("a demo that is still being written") {
    test::scratch_folder const here{"followed"};
    test::recorder made;
    for (std::int32_t tick = 100; tick <= 104; tick += 2) made.snapshot(tick, {{(1 << 16) + 3, {tick, 2, 3}}});
    int waited = 0;
    demo_follower followed{here.store("growing.demo", made.file()), [&] { ++waited; }};
    stream_event e;
    REQUIRE(followed.next(e));
    REQUIRE(e.kind == event_kind::begin);
    CHECK(std::equal(e.begun->map_bytes.begin(), e.begun->map_bytes.end(), test::golden_map.begin(),
                     test::golden_map.end()));
    CHECK(e.begun->map.crc == 0x11223344);
    CHECK(e.begun->first_tick == 100);
    CHECK(e.begun->one_receiver);
    std::vector<std::int32_t> ticks;
    while (ticks.size() < 3 && followed.next(e))
        if (e.kind == event_kind::snapshot) ticks.push_back(e.tick);
    CHECK(ticks == std::vector<std::int32_t>{100, 102, 104});
    CHECK(waited == 0);
    CHECK(followed.error().empty());
}

TEST_CASE("a folder stands for its files of a kind, at any depth") {
    std::filesystem::path const folder =
        std::filesystem::temp_directory_path() / ("teewire-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder / "b");
    std::filesystem::create_directories(folder / ".hidden");
    for (auto const* const name : {"b/a.demo", "c.DEMO", "d.demo.gz", "e.Pcapng.zst", "f.map", "g.xvmap", ".demo",
                                   "h.dema", ".hidden/i.demo"})
        std::ofstream{folder / name};
    std::filesystem::create_symlink(folder / "c.DEMO", folder / "j.demo");
    auto const files = [&](folder_content content) {
        std::vector<std::string> found{folder.string(), "other"};
        expand_folders(found, content);
        for (auto& name : found)
            if (name.starts_with(folder.string())) name = name.substr(folder.string().size() + 1);
        return found;
    };
    using list = std::vector<std::string>;
    CHECK(files(folder_content::demos) == list{"b/a.demo", "c.DEMO", "d.demo.gz", "other"});
    CHECK(files(folder_content::captures) == list{"e.Pcapng.zst", "other"});
    CHECK(files(folder_content::recordings) == list{"b/a.demo", "c.DEMO", "d.demo.gz", "e.Pcapng.zst", "other"});
    CHECK(files(folder_content::maps) == list{"f.map", "g.xvmap", "other"});
    std::vector<std::string> none{(folder / ".hidden").string()};
    CHECK_THROWS_WITH_AS(expand_folders(none, folder_content::maps), (none[0] + ": has no maps in it").c_str(),
                         usage_error);
    std::filesystem::remove_all(folder);
}
