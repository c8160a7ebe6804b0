// The worked examples of the format documents, decoded by the library: a wrong byte or a wrong explanation fails.
//
// Usage: format-examples DOCUMENT...
//
// An example is a fenced block that begins with "```example KIND ...". Its lines are
//     bytes, in hex; "00*57" repeats one | words for people
//     = the library's output, or: bytes = the library's output
// Bytes after a line with "=" begin the next example of the block. In tables whose first columns are "0.6 |
// 0.7 | message" or "message | name | UUID", every row must match the library, and every message must have a row.
#include "printers.hpp"

#include <teewire/huffman.hpp>
#include <teewire/message_types.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>

namespace {

using examples::bytes;
using examples::lines;
using examples::say;

int checked = 0;
int failed = 0;

void fail(std::string const& place, std::string const& what) {
    std::printf("%s: %s\n", place.c_str(), what.c_str());
    ++failed;
}

std::vector<std::string> split(std::string const& text) {
    std::istringstream in{text};
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

std::string trimmed(std::string const& text) {
    auto const begin = text.find_first_not_of(' ');
    return begin == std::string::npos ? std::string{} : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

bytes bytes_of(std::string const& text) {
    bytes data;
    for (auto const& word : split(text)) {
        std::size_t digits = 0;
        unsigned long const value = std::stoul(word, &digits, 16);
        std::size_t const star = word.find('*');
        if (digits != 2 || (digits != word.size() && star != 2)) throw std::runtime_error{"no byte: " + word};
        data.insert(data.end(), star == 2 ? std::stoul(word.substr(3)) : 1, static_cast<std::uint8_t>(value));
    }
    return data;
}

lines decode(std::vector<std::string> const& words, bytes const& data, examples::snapshots& known) {
    if (auto out = examples::print_codec(words, data, known)) return *out;
    if (auto out = examples::print_network(words, data)) return *out;
    if (auto out = examples::print_demo(words, data)) return *out;
    if (auto out = examples::print_map(words, data)) return *out;
    throw std::runtime_error{"no kind of example: " + words.at(0)};
}

// Whether another byte at that place would be noticed.
bool matters(std::vector<std::string> const& words, bytes data, std::size_t at, lines const& actual,
             examples::snapshots known) {
    data[at] ^= 0x25;
    try {
        return decode(words, data, known) != actual;
    } catch (std::exception const&) {
        return true;
    }
}

void check(std::string const& place, std::vector<std::string> const& words, bytes const& data,
           lines const& expected, examples::snapshots& known) {
    ++checked;
    lines actual;
    try {
        actual = decode(words, data, known);
        bool const is_error = actual.front().starts_with("refused") || actual.front().starts_with("error");
        if (!data.empty() && !is_error && !matters(words, data, 0, actual, known) &&
            !matters(words, data, data.size() - 1, actual, known))
            fail(place, "other bytes make no difference");
    } catch (std::exception const& error) {
        actual = {error.what()};
    }
    if (actual == expected) return;
    fail(place, "the library says");
    for (auto const& line : actual) std::printf("= %s\n", line.c_str());
}

void check_block(std::string const& file, std::size_t line_number, std::vector<std::string> const& words,
                 lines const& block, examples::snapshots& known) {
    bytes data;
    lines expected;
    std::string place;
    auto const finish = [&] {
        if (!place.empty()) check(place, words, data, expected, known);
        data.clear();
        expected.clear();
        place.clear();
    };
    for (auto const& line : block) {
        ++line_number;
        auto const equals = line.find("= ");
        auto const bar = line.find('|');
        bool const has_result = equals != std::string::npos && equals < bar;
        std::string const left = trimmed(line.substr(0, has_result ? equals : bar));
        if (!left.empty() && !expected.empty()) finish();
        if (place.empty()) place = say(file, ":", line_number);
        try {
            auto const more = bytes_of(left);
            data.insert(data.end(), more.begin(), more.end());
        } catch (std::exception const& error) {
            fail(say(file, ":", line_number), error.what());
        }
        if (has_result) expected.push_back(line.substr(equals + 2));
    }
    finish();
}

// "00 1 01 0001 ...": every code, and no other.
void check_codes(std::string const& place, lines const& block) {
    ++checked;
    std::map<std::string, std::string> stated;
    for (auto const& line : block) {
        auto const words = split(line);
        for (std::size_t i = 0; i + 1 < words.size(); i += 2) stated[words[i]] = words[i + 1];
    }
    auto const bits_of = [](std::span<std::uint8_t const> plain) {
        bytes coded(teewire::huffman_bound(plain.size()));
        auto const size = teewire::huffman_encode(plain, coded, teewire::huffman_end::exact);
        std::string bits;
        for (auto const byte : std::span{coded}.first(*size))
            for (int bit = 0; bit < 8; ++bit) bits += (byte >> bit & 1) != 0 ? '1' : '0';
        return bits;
    };
    std::string const end = stated["EOF"];
    if (stated.size() != 257 || bits_of({}) != end + std::string((8 - end.size() % 8) % 8, '0'))
        fail(place, "not 257 codes, or another end symbol");
    for (unsigned n = 0; n < 256; ++n) {
        auto const byte = static_cast<std::uint8_t>(n);
        std::string const all = stated[examples::hex({&byte, 1})] + end;
        if (bits_of({&byte, 1}) != all + std::string((8 - all.size() % 8) % 8, '0'))
            fail(place, say("another code for ", examples::hex({&byte, 1})));
    }
}

std::vector<std::string> cells_of(std::string const& row) {
    std::vector<std::string> cells;
    std::istringstream in{row.substr(1)};
    for (std::string cell; std::getline(in, cell, '|');) {
        std::erase(cell, '`');
        cells.push_back(trimmed(cell));
    }
    return cells;
}

std::string uuid_text(teewire::uuid const& id) {
    std::string text = examples::hex(id.bytes);
    std::erase(text, ' ');
    for (int const at : {8, 13, 18, 23}) text.insert(static_cast<std::size_t>(at), "-");
    return text;
}

// A row of a table of messages. `seen` gets the types that it can mean.
void check_message_row(std::string const& place, std::vector<std::string> const& head,
                       std::vector<std::string> const& row, bool system, std::set<teewire::message_type>& seen) {
    bool const numbers = head[0] == "0.6";
    if (row.size() < 3) return fail(place, "a row with too few cells");
    auto const number = [](std::string const& cell) { return cell == "-" ? 0 : std::stoi(cell); };
    ++checked;
    for (std::size_t i = 1; i < teewire::message_type_count; ++i) {
        auto const& d = teewire::describe(static_cast<teewire::message_type>(i));
        bool const by_uuid = d.id_06 == 0 && d.id_07 == 0;
        if (d.name != row[numbers ? 2 : 0] || by_uuid == numbers || d.system != system) continue;
        if (numbers ? d.id_06 == number(row[0]) && d.id_07 == number(row[1]) : uuid_text(d.extended) == row[2]) {
            seen.insert(d.type);
            return;
        }
    }
    fail(place, "the library knows no such message");
}

void check_document(char const* file, std::set<teewire::message_type>& seen) {
    std::ifstream in{file};
    if (!in) return fail(file, "cannot be read");
    int const before = checked;
    examples::snapshots known;
    std::vector<std::string> head;
    bool system = false;
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (line.starts_with("#")) system = line.find("System") != std::string::npos;
        if (line.starts_with("|")) {
            auto const cells = cells_of(line);
            if (head.empty()) head = cells;
            bool const of_messages = head.size() > 2 && ((head[0] == "0.6" && head[2] == "message") ||
                                                         (head[0] == "message" && head[2] == "UUID"));
            if (of_messages && cells != head && !line.starts_with("|-"))
                check_message_row(say(file, ":", number), head, cells, system, seen);
        } else {
            head.clear();
        }
        if (!line.starts_with("```example ")) continue;
        auto const words = split(line.substr(11));
        std::size_t const begin = number;
        lines block;
        while (std::getline(in, line) && !line.starts_with("```")) {
            ++number;
            block.push_back(line);
        }
        ++number;
        if (words.at(0) == "codes") check_codes(say(file, ":", begin), block);
        else check_block(file, begin, words, block, known);
    }
    if (checked == before) fail(file, "has no example");
}

} // namespace

int main(int argc, char** argv) {
    std::set<teewire::message_type> seen;
    for (int i = 1; i < argc; ++i) check_document(argv[i], seen);
    for (std::size_t i = 1; i < teewire::message_type_count; ++i)
        if (auto const type = static_cast<teewire::message_type>(i); !seen.contains(type))
            fail(std::string{describe(type).name}, "is in no table of messages");
    std::printf("%d examples and rows in %d documents, %d wrong\n", checked, argc - 1, failed);
    return failed == 0 && checked > 0 ? 0 : 1;
}
