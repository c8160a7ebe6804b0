#include "recording/demo/usage.hpp"

#include "base/interrupts.hpp"
#include "game/item_text.hpp"
#include "game/message_fields.hpp"

#include <teewire/delta.hpp>
#include <teewire/huffman.hpp>
#include <teewire/varint.hpp>

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <utility>

namespace teewire::replay {
namespace {

constexpr char const* head = "(head)";

// Bytes of the parts of a chunk before Huffman coding.
class chunk_weights {
public:
    void clear() {
        weights_.clear();
        all_ = 0;
    }
    void add(std::string_view name, std::uint64_t weight, std::uint64_t count) {
        all_ += weight;
        // Items of one type follow each other.
        if (!weights_.empty() && weights_.back().name == name) {
            weights_.back().weight += weight;
            weights_.back().count += count;
        } else {
            weights_.push_back({std::string{name}, weight, count});
        }
    }
    // Shares the bytes out so that none is lost. Something was added.
    void share(std::uint64_t bytes, std::map<std::string, byte_count>& to) {
        assert(all_ != 0);
        std::uint64_t sum = 0, given = 0;
        for (entry const& e : weights_) {
            sum += e.weight;
            std::uint64_t const until = bytes * sum / all_;
            byte_count& part = to[e.name];
            part.count += e.count;
            part.bytes += until - std::exchange(given, until);
        }
    }

private:
    struct entry {
        std::string name;
        std::uint64_t weight;
        std::uint64_t count;
    };
    std::vector<entry> weights_;
    std::uint64_t all_ = 0;
};

class usage_meter {
public:
    explicit usage_meter(demo_document& demo) : demo_{demo}, sizes_{*demo.sizes().sizes} {}

    demo_usage measure(std::function<void(std::uint64_t)> const& progress) {
        out_.total = demo_.file_size();
        out_.header = demo_.header().size();
        out_.map = demo_.map().size();
        demo_reader reader = demo_.reader(demo_.first_chunk(), demo_.file_size());
        std::uint64_t done = 0;
        for (demo_chunk chunk; !interrupted() && reader.next(chunk);) {
            add(chunk, reader.position() - chunk.position);
            constexpr std::size_t piece_bytes = 64 << 10;
            if (reader.position() - done >= piece_bytes) progress(done = reader.position());
        }
        out_.rest = demo_.file_size() - reader.position();
        demo_failure const failed{reader.error(), demo_stage::chunk, reader.tick(), reader.error().position};
        if (out_.error.empty()) out_.error = demo_.error_text(failed);
        finish(out_.keyframes, keyframes_);
        finish(out_.deltas, deltas_);
        finish(out_.messages, messages_);
        return std::move(out_);
    }

private:
    using part_map = std::map<std::string, byte_count>;

    void add(demo_chunk const& chunk, std::uint64_t bytes) {
        auto const count = [bytes](byte_count& to) {
            ++to.count;
            to.bytes += bytes;
        };
        switch (chunk.kind) {
        case demo_chunk_kind::tick: return count(out_.ticks);
        case demo_chunk_kind::unused: return count(out_.unused);
        case demo_chunk_kind::snapshot:
        case demo_chunk_kind::delta:
        case demo_chunk_kind::message: break;
        }
        weights_.clear();
        auto const ints = decode(chunk);
        failure failed = ints ? weigh(chunk.kind, *ints) : failed_.what;
        if (failed.code != errc::ok) {
            if (out_.error.empty())
                out_.error = demo_.error_text(
                    {failed, ints ? stage_of(chunk.kind) : failed_.stage, chunk.tick, chunk.position});
            return count(out_.damaged);
        }
        auto& [section, parts] = chunk.kind == demo_chunk_kind::snapshot ? all_keyframes_
                                 : chunk.kind == demo_chunk_kind::delta  ? all_deltas_
                                                                         : all_messages_;
        count(section.chunks);
        weights_.share(bytes, parts);
    }

    static demo_stage stage_of(demo_chunk_kind kind) {
        return kind == demo_chunk_kind::snapshot ? demo_stage::snapshot
               : kind == demo_chunk_kind::delta  ? demo_stage::delta
                                                 : demo_stage::varint;
    }

    std::optional<std::span<std::int32_t const>> decode(demo_chunk const& chunk) {
        auto const packed = huffman_decode(chunk.payload, memory_->packed);
        if (!packed) {
            failed_ = {packed.error(), demo_stage::huffman, chunk.tick, chunk.position};
            return {};
        }
        auto const count = decode_varints(std::span{memory_->packed}.first(*packed), memory_->ints);
        if (!count) {
            failed_ = {count.error(), demo_stage::varint, chunk.tick, chunk.position};
            return {};
        }
        return std::span{memory_->ints}.first(*count);
    }

    failure weigh(demo_chunk_kind kind, std::span<std::int32_t const> ints) {
        if (kind == demo_chunk_kind::snapshot) return weigh_snapshot(ints);
        if (kind == demo_chunk_kind::delta) return weigh_delta(ints);
        return weigh_message(ints);
    }

    failure weigh_snapshot(std::span<std::int32_t const> ints) {
        auto const snapshot = snapshot_view::parse(ints, decoding::lenient);
        if (!snapshot) return snapshot.error();
        aliases_.clear();
        std::uint64_t items = 0;
        for (item const i : *snapshot) {
            learn(i.key, i.data);
            // With the offset before the items, which is never the shortest.
            std::uint64_t const weight = varint_size(i.key) + varint_size(i.data) + varint_size(ints[2]);
            weights_.add(name_of(i.type()), weight, 1);
            items += weight;
        }
        std::uint64_t const all = varint_size(ints);
        weights_.add(head, all - std::min(all, items), 0);
        return {};
    }

    failure weigh_delta(std::span<std::int32_t const> ints) {
        auto const opened = delta_reader::open(ints, sizes_, decoding::lenient);
        if (!opened) return opened.error();
        delta_reader reader = *opened;
        weights_.add(head, varint_size(ints.first(delta_header_ints)), 0);
        if (auto const removed = reader.removed_keys(); !removed.empty())
            weights_.add("(removed)", varint_size(removed), removed.size());
        for (std::int32_t const key : reader.removed_keys())
            if (key_type(key) == type_ex) aliases_.erase(key_id(key)); // its number may stand for another then
        std::size_t end = delta_header_ints + reader.removed_keys().size();
        for (delta_reader::update u; reader.next(u);) {
            end = static_cast<std::size_t>(u.data.data() - ints.data()) + u.data.size();
            learn(u.key, u.data);
            weights_.add(name_of(key_type(u.key)), varint_size(ints.subspan(u.position, end - u.position)), 1);
        }
        if (reader.error().code != errc::ok) return reader.error();
        if (end < ints.size()) weights_.add(head, varint_size(ints.subspan(end)), 0);
        return {};
    }

    failure weigh_message(std::span<std::int32_t const> ints) {
        auto const raw = parse_message(message_bytes(ints, memory_->message));
        std::string const name =
            raw ? name_message(*raw, identify(*raw, demo_.item_protocol())) : std::string{"(not readable)"};
        weights_.add(name, 1, 1);
        return {};
    }

    // The type that an extended type's number stands for: a describing item gives it when it is new.
    void learn(std::int32_t key, std::span<std::int32_t const> data) {
        if (key_type(key) != type_ex || data.size() < 4 || aliases_.contains(key_id(key))) return;
        aliases_.emplace(key_id(key), name_extended(uuid::from_ints(data.first<4>())).text);
    }

    std::string_view name_of(std::uint16_t type) {
        if (auto const known = aliases_.find(type); type >= first_alias && known != aliases_.end())
            return known->second;
        auto const [place, is_new] = names_.try_emplace(type);
        if (is_new) place->second = name_type({}, type, demo_.item_protocol()).text;
        return place->second;
    }

    static void finish(usage_section& section, part_map& parts) {
        for (auto& [name, of] : parts) section.parts.push_back({name, of});
        std::stable_sort(section.parts.begin(), section.parts.end(),
                         [](auto const& a, auto const& b) { return a.of.bytes > b.of.bytes; });
    }

    demo_document& demo_;
    size_table const& sizes_;
    std::unique_ptr<demo_player_memory> memory_ = std::make_unique<demo_player_memory>();
    demo_usage out_;
    demo_failure failed_;
    chunk_weights weights_;
    std::map<std::uint16_t, std::string> aliases_;
    std::map<std::uint16_t, std::string> names_;
    part_map keyframes_;
    part_map deltas_;
    part_map messages_;
    std::pair<usage_section&, part_map&> all_keyframes_{out_.keyframes, keyframes_};
    std::pair<usage_section&, part_map&> all_deltas_{out_.deltas, deltas_};
    std::pair<usage_section&, part_map&> all_messages_{out_.messages, messages_};
};

} // namespace

demo_usage measure_usage(demo_document& demo, std::function<void(std::uint64_t bytes)> const& progress) {
    return usage_meter{demo}.measure(progress);
}

} // namespace teewire::replay
