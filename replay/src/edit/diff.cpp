#include "edit/diff.hpp"

#include "base/errors.hpp"
#include "base/interrupts.hpp"
#include "game/message_fields.hpp"
#include "recording/stream/tick_reader.hpp"

#include <teewire/message.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace teewire::replay {
namespace {

using bytes_view = std::span<std::uint8_t const>;

// Further names are counted together, because the input chooses the names of types.
constexpr std::size_t max_kinds = 1000;

// An item of one side, and the key by which it is compared: aliases of one extended type need not be the same number.
struct keyed_item {
    std::uint64_t key;
    std::size_t number;
};

constexpr std::uint64_t in_b_alone = std::uint64_t{1} << 32;

constexpr std::uint32_t plain(std::int32_t key) noexcept { return static_cast<std::uint32_t>(key); }

// Extended types as the items of type 0 describe them, ascending by UUID. The first of each counts.
using alias_list = std::vector<std::pair<std::array<std::uint8_t, 16>, std::uint16_t>>;

void list_aliases(snapshot_view snapshot, alias_list& out) {
    out.clear();
    for (item const i : snapshot)
        if (i.type() == type_ex && i.data.size() >= 4)
            out.emplace_back(uuid::from_ints(i.data.first<4>()).bytes, i.id());
    auto const by_uuid = [](auto const& x, auto const& y) { return x.first < y.first; };
    std::stable_sort(out.begin(), out.end(), by_uuid);
    auto const same = [](auto const& x, auto const& y) { return x.first == y.first; };
    out.erase(std::unique(out.begin(), out.end(), same), out.end());
}

class comparison {
public:
    comparison(event_source& a, event_source& b, diff_options const& options, diff_listener& listener)
        : a_{a}, b_{b}, options_{options}, listener_{listener} {}

    diff_result run() {
        bool more_a = next(a_), more_b = next(b_);
        while ((more_a || more_b) && !interrupted()) {
            if (ended(more_a, more_b)) break;
            if (more_a && more_b && a_.begins() == b_.begins() && (a_.begins() || a_.tick() == b_.tick())) {
                if (a_.begins()) compare_recordings();
                else if (wanted(a_.tick())) compare_ticks();
                more_a = next(a_);
                more_b = next(b_);
            } else if (more_a && (!more_b || b_.begins() || (!a_.begins() && a_.tick() < b_.tick()))) {
                add_only(side::a, a_);
                more_a = next(a_);
            } else {
                add_only(side::b, b_);
                more_b = next(b_);
            }
        }
        static_cast<void>(ended(more_a, more_b)); // both at the same place
        flush();
        return std::move(result_);
    }

private:
    // A tick whose messages are not all there is not compared.
    static bool next(tick_reader& reader) { return reader.next() && !reader.cut_short(); }

    [[nodiscard]] bool wanted(std::int32_t tick) const noexcept { return range_.contains(tick); }

    // Whether one side is damaged, so that nothing can be said any more.
    bool ended(bool more_a, bool more_b) {
        if (!more_a) result_.damage[0] = a_.error();
        if (!more_b) result_.damage[1] = b_.error();
        if (result_.damage[0].empty() && result_.damage[1].empty()) return false;
        result_.damage_tick = tick_;
        return true;
    }

    // ---- recordings

    void compare_recordings() {
        flush();
        recording_info const& a = a_.begun();
        recording_info const& b = b_.begun();
        bool const a_is_07 = a.version == protocol::teeworlds_07, b_is_07 = b.version == protocol::teeworlds_07;
        // DDNet's items are those of 0.6 as well.
        protocol_ = a.version == protocol::teeworlds_06 ? b.version : a.version;
        comparable_ = a_is_07 == b_is_07;
        check_ignored(a.version, b.version);
        if (options_.range) range_ = options_.range(a);
        if (!comparable_) add_recording("protocol", std::string{name(a.version)}, std::string{name(b.version)});
        add_recording("map", printable(a.map.name), printable(b.map.name));
        if (a.map.crc != 0 && b.map.crc != 0)
            add_recording("crc", fmt::format("{:08x}", a.map.crc), fmt::format("{:08x}", b.map.crc));
        if (a.map.sha256 && b.map.sha256) add_recording("sha256", hex(*a.map.sha256), hex(*b.map.sha256));
    }

    void add_recording(std::string_view what, std::string const& a, std::string const& b) {
        if (a == b) return;
        ++result_.differences;
        count(what);
        listener_.recording(what, a, b);
    }

    void check_ignored(protocol a, protocol b) const {
        for (std::string const& text : options_.ignored) {
            auto const dot = std::min(text.find('.'), text.size());
            std::string const type = text.substr(0, dot);
            if (type == "extended_type" || type.starts_with("type_") || type.starts_with("uuid_")) continue;
            object const* known[2] = {find_object(a, type), find_object(b, type)};
            if (known[0] == nullptr && known[1] == nullptr)
                throw usage_error{
                    fmt::format("--ignore: there is no item type \"{}\" in protocol {}", type, name(a))};
            if (dot == text.size() || text[dot + 1] == '[') continue;
            auto const has_field = [field = text.substr(dot + 1)](object const* o) {
                if (o == nullptr) return false;
                auto const parts = parts_of(o->ints, o);
                return std::any_of(parts.begin(), parts.end(), [&](item_part const& p) {
                    return part_name(p) == field || (p.described != nullptr && p.described->name == field);
                });
            };
            if (!has_field(known[0]) && !has_field(known[1]))
                throw usage_error{fmt::format("--ignore: {} has no field \"{}\"", type, text.substr(dot + 1))};
        }
    }

    // ---- ticks

    void add_only(side which, tick_reader const& from) {
        if (from.begins()) {
            flush();
            std::string const map = printable(from.begun().map.name);
            add_recording("recording", which == side::a ? map : "", which == side::b ? map : "");
            comparable_ = true;
            return;
        }
        tick_ = from.tick();
        if (options_.common_ticks || !wanted(from.tick())) return;
        ++result_.only[static_cast<std::size_t>(which)];
        if (only_.count != 0 && only_.which != which) flush();
        if (only_.count++ == 0) only_ = {which, from.tick(), from.tick(), 1};
        only_.last = from.tick();
    }

    // Reports the ticks that only one side has.
    void flush() {
        if (only_.count == 0) return;
        ++result_.differences;
        listener_.ticks(only_.which, only_.first, only_.last, only_.count);
        only_.count = 0;
    }

    void compare_ticks() {
        tick_ = a_.tick();
        if (!comparable_) return;
        ++result_.common_ticks;
        std::uint64_t const before = result_.differences;
        flushed_ = false;
        bool const changed_a = a_.take_change(), changed_b = b_.take_change();
        if (changed_a || changed_b) compare_states();
        if (options_.messages) compare_messages();
        result_.different_ticks += flushed_ || result_.differences != before;
    }

    // To be called before any difference of this tick.
    void begin_difference() {
        if (!std::exchange(flushed_, true)) flush();
        ++result_.differences;
    }

    void count(std::string_view what) {
        auto const found = result_.counts.find(what);
        if (found != result_.counts.end()) ++found->second;
        else if (result_.counts.size() < max_kinds) result_.counts.emplace(what, 1);
        else ++result_.counts["others"];
    }

    // ---- items

    void compare_states() {
        auto const a = a_.state().ints(), b = b_.state().ints();
        if (std::equal(a.begin(), a.end(), b.begin(), b.end())) return;
        list_items(a_.state(), items_a_, aliases_a_);
        list_items(b_.state(), items_b_, aliases_b_);
        unite_aliases();
        std::size_t i = 0, k = 0;
        while (i < items_a_.size() || k < items_b_.size()) {
            if (k == items_b_.size() || (i < items_a_.size() && items_a_[i].key < items_b_[k].key))
                add_item(side::a, a_.state()[items_a_[i++].number]);
            else if (i == items_a_.size() || items_b_[k].key < items_a_[i].key)
                add_item(side::b, b_.state()[items_b_[k++].number]);
            else compare_items(a_.state()[items_a_[i++].number], b_.state()[items_b_[k++].number]);
        }
    }

    static void sort(std::vector<keyed_item>& items) {
        auto const by_key = [](keyed_item const& x, keyed_item const& y) { return x.key < y.key; };
        if (!std::is_sorted(items.begin(), items.end(), by_key))
            std::stable_sort(items.begin(), items.end(), by_key);
    }

    static void list_items(snapshot_view snapshot, std::vector<keyed_item>& items, alias_list& aliases) {
        items.clear();
        for (std::size_t i = 0; i < snapshot.size(); ++i) items.push_back({plain(snapshot.key(i)), i});
        sort(items);
        list_aliases(snapshot, aliases);
    }

    // Gives the items of b the aliases that a has for the same types.
    void unite_aliases() {
        if (aliases_a_ == aliases_b_) return;
        std::array<std::uint16_t, 0x10000>& to = *alias_in_a_;
        for (auto const& [id, alias] : aliases_b_) {
            auto const found = std::lower_bound(aliases_a_.begin(), aliases_a_.end(), id,
                                                [](auto const& x, auto const& wanted) { return x.first < wanted; });
            // 0 is not an alias.
            to[alias] = found != aliases_a_.end() && found->first == id ? found->second : std::uint16_t{0};
            known_in_b_[alias] = true;
        }
        for (keyed_item& i : items_b_) {
            std::int32_t const key = static_cast<std::int32_t>(static_cast<std::uint32_t>(i.key));
            bool const describes = key_type(key) == type_ex;
            std::uint16_t const alias = describes ? key_id(key) : key_type(key);
            if (!known_in_b_[alias] || (!describes && alias < first_alias)) continue;
            if (to[alias] == 0) i.key |= in_b_alone;
            else i.key = plain(describes ? make_key(type_ex, to[alias]) : make_key(to[alias], key_id(key)));
        }
        for (auto const& [id, alias] : aliases_b_) known_in_b_[alias] = false;
        sort(items_b_);
    }

    [[nodiscard]] type_name name_of(item const& i, alias_list const& aliases) const {
        if (i.type() < first_alias) return name_type({}, i.type(), protocol_);
        for (auto const& [id, alias] : aliases) {
            if (alias != i.type()) continue;
            uuid found;
            found.bytes = id;
            return name_extended(found);
        }
        return {nullptr, fmt::format("type_{}", i.type())};
    }

    [[nodiscard]] bool ignored(std::string_view name) const {
        return std::find(options_.ignored.begin(), options_.ignored.end(), name) != options_.ignored.end();
    }

    void add_item(side which, item const& i) {
        type_name const type = name_of(i, which == side::a ? aliases_a_ : aliases_b_);
        if (ignored(type.text)) return;
        begin_difference();
        count(type.text);
        listener_.item_only(which, tick_, i, type);
    }

    void compare_items(item const& a, item const& b) {
        if (std::equal(a.data.begin(), a.data.end(), b.data.begin(), b.data.end())) return;
        type_name const type = name_of(a, aliases_a_);
        if (ignored(type.text)) return;
        parts_.clear();
        item const& longer = a.data.size() >= b.data.size() ? a : b;
        for (item_part const& part : parts_of(longer.data.size(), type.known)) {
            auto const of = [&](item const& i) {
                return part.at + part.ints <= i.data.size() ? i.data.subspan(part.at, part.ints)
                                                            : std::span<std::int32_t const>{};
            };
            auto const in_a = of(a), in_b = of(b);
            if (std::equal(in_a.begin(), in_a.end(), in_b.begin(), in_b.end())) continue;
            std::string const name = fmt::format("{}.{}", type.text, part_name(part));
            if (ignored(name) ||
                (part.described != nullptr && ignored(fmt::format("{}.{}", type.text, part.described->name))))
                continue;
            count(name);
            parts_.push_back({part, in_a, in_b});
        }
        if (parts_.empty()) return;
        begin_difference();
        listener_.item(tick_, a, type, parts_);
    }

    // ---- messages

    // Demos do not have those that are not vital, nor that which lets a client in.
    void list_messages(tick_reader const& from, std::vector<bytes_view>& out) const {
        out.clear();
        for (tick_message const& said : from.messages()) {
            auto const m = parse_message(said.bytes);
            message_type const type = m ? identify(*m, from.begun().version) : message_type::unknown;
            if ((said.vital || type == message_type::pre_input) && type != message_type::ready_to_enter)
                out.push_back(said.bytes);
        }
    }

    // Demos fill messages up with zeros to a multiple of four bytes.
    static bool same_message(bytes_view a, bytes_view b) {
        bytes_view const longer = a.size() >= b.size() ? a : b, shorter = a.size() >= b.size() ? b : a;
        auto const rest = longer.subspan(shorter.size());
        return std::equal(shorter.begin(), shorter.end(), longer.begin()) &&
               (a.size() + 3) / 4 == (b.size() + 3) / 4 &&
               std::all_of(rest.begin(), rest.end(), [](std::uint8_t byte) { return byte == 0; });
    }

    [[nodiscard]] compared_message describe_message(bytes_view bytes) const {
        auto const m = parse_message(bytes);
        if (!m) return {"no message", hex(bytes, " ")};
        message_type const type = identify(*m, protocol_);
        auto const fields = fields_text(*m, type, protocol_);
        return {name_message(*m, type), fields ? *fields : hex(m->fields, " ")};
    }

    void add_message(std::optional<std::size_t> a, std::optional<std::size_t> b) {
        std::optional<compared_message> in_a, in_b;
        if (a) in_a = describe_message(messages_a_[*a]);
        if (b) in_b = describe_message(messages_b_[*b]);
        begin_difference();
        count("message " + (in_a ? *in_a : *in_b).name);
        listener_.message(tick_, a ? *a : *b, in_a ? &*in_a : nullptr, in_b ? &*in_b : nullptr);
    }

    // In their order: what the other has further on was left out here. The rest are pairs that differ.
    void compare_messages() {
        constexpr std::size_t reach = 64;
        list_messages(a_, messages_a_);
        list_messages(b_, messages_b_);
        std::size_t i = 0, k = 0;
        auto const find = [&](auto const& same, std::size_t from, std::size_t end) {
            for (std::size_t at = from; at < std::min(end, from + reach); ++at)
                if (same(at)) return at;
            return end;
        };
        while (i < messages_a_.size() && k < messages_b_.size()) {
            if (same_message(messages_a_[i], messages_b_[k])) {
                ++i, ++k;
                continue;
            }
            std::size_t const in_b =
                find([&](std::size_t at) { return same_message(messages_a_[i], messages_b_[at]); }, k + 1,
                     messages_b_.size());
            std::size_t const in_a =
                find([&](std::size_t at) { return same_message(messages_a_[at], messages_b_[k]); }, i + 1,
                     messages_a_.size());
            if (in_b == messages_b_.size() && in_a == messages_a_.size()) {
                add_message(i++, k++);
            } else if (in_a == messages_a_.size() || (in_b != messages_b_.size() && in_b - k <= in_a - i)) {
                while (k < in_b) add_message({}, k++);
            } else {
                while (i < in_a) add_message(i++, {});
            }
        }
        while (i < messages_a_.size()) add_message(i++, {});
        while (k < messages_b_.size()) add_message({}, k++);
    }

    struct lone_ticks {
        side which = side::a;
        std::int32_t first = 0;
        std::int32_t last = 0;
        std::uint64_t count = 0;
    };

    tick_reader a_, b_;
    diff_options const& options_;
    diff_listener& listener_;
    diff_result result_;
    protocol protocol_ = protocol::ddnet;
    bool comparable_ = true; // items of the two
    tick_range range_;
    std::int32_t tick_ = -1;
    lone_ticks only_;
    bool flushed_ = false;                      // at this tick
    std::vector<keyed_item> items_a_, items_b_; // ascending
    alias_list aliases_a_, aliases_b_;
    std::unique_ptr<std::array<std::uint16_t, 0x10000>> alias_in_a_ =
        std::make_unique<std::array<std::uint16_t, 0x10000>>(); // by that in b
    std::vector<bool> known_in_b_ = std::vector<bool>(0x10000);
    std::vector<part_difference> parts_;
    std::vector<bytes_view> messages_a_, messages_b_;
};

} // namespace

diff_result compare(event_source& a, event_source& b, diff_options const& options, diff_listener& listener) {
    return comparison{a, b, options, listener}.run();
}

} // namespace teewire::replay
