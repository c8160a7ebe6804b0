#include "events/player_list.hpp"

#include <algorithm>
#include <set>
#include <span>

namespace teewire::replay {

class player_list::part final : public segment_sink {
public:
    explicit part(player_list& list)
        : protocol_{list.protocol_}, client_info_{list.client_info_.type}, players_{protocol_}, list_{list} {
        for (field const& f : find_object(protocol_, "player_info")->fields)
            if (f.name == "score") score_at_ = f.offset;
    }

    void begin() override {
        items_.clear();
        present_.clear();
        reported_.clear();
        scores_.clear();
        reported_scores_.clear();
    }

    void put(stream_event const& event) override {
        if (event.kind == event_kind::message) read(event.message);
        else read(event.tick, event.state);
    }

    [[nodiscard]] std::size_t size() const noexcept override {
        constexpr std::size_t usual_item_bytes = 80;
        return facts_.size() * (sizeof(fact) + usual_item_bytes);
    }

    void deliver() override {
        for (fact const& one : facts_) std::visit([this](auto const& f) { list_.add(f); }, one);
        facts_.clear();
    }

private:
    using item_map = std::map<std::uint16_t, std::vector<std::int32_t>>;
    using item_position = item_map::iterator;

    void read(std::span<std::uint8_t const> message) {
        auto const raw = parse_message(message);
        if (!raw || raw->system) return;
        auto const m = decode_game_message(*raw, protocol_);
        if (!m) return;
        auto introduced = read_introduction(*m);
        if (!introduced) return;
        forget(introduced->client_id);
        facts_.emplace_back(std::move(*introduced));
    }

    // Consecutive snapshots rarely differ here, and rarely reorder their items.
    void read(std::int32_t tick, snapshot_view state) {
        now_.clear();
        now_scores_.clear();
        auto guess = items_.begin();
        for (std::size_t i = 0; i < state.size(); ++i) {
            std::uint16_t const type = key_type(state.key(i));
            if (type == client_info_) read_name(state[i], guess);
            else if (type == players_.type()) {
                item const info = state[i];
                now_.push_back(players_.client_id(info));
                now_scores_.push_back(score_at_ < info.data.size() ? info.data[score_at_] : 0);
            }
        }
        bool const changed = now_ != present_ || names_changed_;
        if (!changed && now_scores_ == scores_) return;
        if (changed)
            for (std::int32_t const id : now_)
                if (reported_.insert(id).second) facts_.emplace_back(presence_fact{id, tick});
        score_reader const meaning{state, protocol_};
        for (std::size_t i = 0; i < now_.size(); ++i) {
            auto const [entry, is_new] = reported_scores_.try_emplace(now_[i], now_scores_[i]);
            if (!is_new && std::exchange(entry->second, now_scores_[i]) == now_scores_[i]) continue;
            facts_.emplace_back(score_fact{now_[i], now_scores_[i], meaning.time(now_[i], now_scores_[i])});
        }
        std::swap(now_, present_);
        std::swap(now_scores_, scores_);
        names_changed_ = false;
    }

    void read_name(item const& i, item_position& guess) {
        if (guess == items_.end() || guess->first != i.id()) guess = items_.find(i.id());
        bool const is_new = guess == items_.end();
        if (is_new) guess = items_.emplace(i.id(), std::vector<std::int32_t>{}).first;
        auto& data = (guess++)->second;
        if (!is_new && std::equal(data.begin(), data.end(), i.data.begin(), i.data.end())) return;
        data.assign(i.data.begin(), i.data.end());
        forget(i.id());
        facts_.emplace_back(item_fact{i.id(), data});
    }

    // The player with that id may have another name now.
    void forget(std::int32_t client_id) {
        reported_.erase(client_id);
        reported_scores_.erase(client_id);
        names_changed_ = true;
    }

    protocol protocol_;
    std::uint16_t client_info_;
    player_ids players_;
    std::size_t score_at_ = SIZE_MAX;
    player_list& list_;
    std::vector<fact> facts_;

    // In this segment:
    item_map items_;                    // the last item of each id
    std::vector<std::int32_t> present_; // in the last snapshot
    std::vector<std::int32_t> now_;
    std::vector<std::int32_t> scores_; // of the players in present_
    std::vector<std::int32_t> now_scores_;
    std::map<std::int32_t, std::int32_t> reported_scores_;
    std::set<std::int32_t> reported_; // present since they got their current name
    bool names_changed_ = false;
};

player_list::player_list(protocol p) : protocol_{p}, client_info_{*find_object(p, "client_info")} {}

std::unique_ptr<segment_sink> player_list::make_part() { return std::make_unique<part>(*this); }

void player_list::add(item_fact const& i) {
    names_.add({make_key(client_info_.type, i.id), i.data}, client_info_, protocol_);
}

void player_list::add(presence_fact const& p) {
    std::string name = names_.name(p.client_id);
    auto const [known, is_new] = known_.try_emplace({p.client_id, name}, players_.size());
    present_[p.client_id] = known->second;
    if (!is_new) return;
    auto const* const who = names_.find(p.client_id);
    players_.push_back({p.client_id, std::move(name), who != nullptr ? who->clan : "", p.tick, {}, {}});
}

void player_list::add(score_fact const& s) {
    listed_player& player = players_[present_.at(s.client_id)];
    player.score = s.score;
    player.time = s.time;
}

} // namespace teewire::replay
