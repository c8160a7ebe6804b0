#include "item_text.hpp"
#include "session.hpp"
#include "verbs.hpp"

#include <algorithm>

namespace teewire::replay {
namespace {

// FNV-1a 64 over the little-endian bytes.
std::uint64_t hash(std::span<std::int32_t const> ints) {
    std::uint64_t h = 14695981039346656037U;
    for (std::int32_t const value : ints)
        for (unsigned shift = 0; shift < 32; shift += 8)
            h = (h ^ (static_cast<std::uint32_t>(value) >> shift & 0xff)) * 1099511628211U;
    return h;
}

class printer {
public:
    printer(dump_options const& options, protocol p) : protocol_{p}, types_{options.types} {
        for (std::string const& type : types_)
            if (find_object(p, type) == nullptr && type != "extended_type" && !type.starts_with("type_") &&
                !type.starts_with("uuid_"))
                throw usage_error{
                    fmt::format("--types: there is no item type \"{}\" in protocol {}", type, teewire::name(p))};
    }
    virtual ~printer() = default;
    virtual void print(output& out, demo_event const& event, snapshot_view snapshot) = 0;

protected:
    [[nodiscard]] bool wanted(std::string_view type) const {
        return types_.empty() || std::find(types_.begin(), types_.end(), type) != types_.end();
    }
    protocol protocol_;

private:
    std::vector<std::string> types_;
};

class checksum_printer : public printer {
public:
    using printer::printer;
    void print(output& out, demo_event const& event, snapshot_view snapshot) override {
        out.print("{} {} {} {:08x} {:016x}\n", event.tick, snapshot.size(), snapshot.data_size(),
                  snapshot.checksum(), hash(snapshot.ints()));
    }
};

class ndjson_printer : public printer {
public:
    using printer::printer;
    void print(output& out, demo_event const& event, snapshot_view snapshot) override {
        rapidjson::StringBuffer text;
        json_writer json{text};
        json.StartObject();
        json.Key("tick");
        json.Int(event.tick);
        json.Key("keyframe");
        json.Bool(event.keyframe);
        json.Key("checksum");
        write_string(json, fmt::format("{:08x}", snapshot.checksum()));
        json.Key("items");
        json.StartObject();
        // Items of one type are rarely apart; those that are come together at the place of the first.
        types_done_.clear();
        for (std::size_t i = 0; i < snapshot.size(); ++i) {
            std::uint16_t const type = key_type(snapshot.key(i));
            if (std::find(types_done_.begin(), types_done_.end(), type) != types_done_.end()) continue;
            types_done_.push_back(type);
            type_name const name = name_type(snapshot, type, protocol_);
            if (!wanted(name.text)) continue;
            write_key(json, name.text);
            json.StartObject();
            for (std::size_t k = i; k < snapshot.size(); ++k) {
                if (key_type(snapshot.key(k)) != type) continue;
                item const found = snapshot[k];
                write_key(json, fmt::format("{}", found.id()));
                json.StartObject();
                write_fields(json, found, name.known);
                json.EndObject();
            }
            json.EndObject();
        }
        json.EndObject();
        json.EndObject();
        out.write({text.GetString(), text.GetSize()});
        out.write("\n");
    }

private:
    std::vector<std::uint16_t> types_done_;
};

class csv_printer : public printer {
public:
    csv_printer(dump_options const& options, protocol p) : printer{options, p} {
        if (options.types.size() == 1) object_ = find_object(p, options.types.front());
        if (object_ == nullptr) throw usage_error{"--format csv needs one --types NAME of a known item type"};
    }
    void print(output& out, demo_event const& event, snapshot_view snapshot) override {
        if (!header_done_) out.print("tick,id{}\n", csv_columns(*object_));
        header_done_ = true;
        for (item const i : snapshot) {
            if (name_type(snapshot, i.type(), protocol_).known != object_) continue;
            out.print("{},{}", event.tick, i.id());
            write_csv_values(out, i, *object_);
            out.write("\n");
        }
    }

private:
    object const* object_ = nullptr;
    bool header_done_ = false;
};

std::unique_ptr<printer> make_printer(dump_options const& options, protocol p) {
    if (options.format == "checksum") return std::make_unique<checksum_printer>(options, p);
    if (options.format == "csv") return std::make_unique<csv_printer>(options, p);
    return std::make_unique<ndjson_printer>(options, p);
}

} // namespace

int dump(dump_options const& options) {
    input const source{options.file};
    session demo{source};
    auto const printer = make_printer(options, demo.spoken());
    std::int32_t const from = options.from.value_or(0);
    std::int32_t const to = options.to.value_or(INT32_MAX);
    demo_player& player = demo.player();
    output out;
    progress shown{source.bytes().size()};

    bool good = true;
    if (from > demo.overview().first_tick && !demo.keyframes().empty())
        good = player.seek(from - 1, demo.keyframes());
    for (demo_event event; good && player.next(event);) {
        if (interrupted()) {
            out.flush();
            return exit_interrupted;
        }
        if (event.kind != demo_event_kind::snapshot || event.tick < from || event.tick > to) continue;
        printer->print(out, event, player.state());
        shown.update(event.position, source.name());
    }
    out.flush();
    if (!demo.failed()) return exit_ok;
    throw bad_input{demo.error_text()};
}

} // namespace teewire::replay
