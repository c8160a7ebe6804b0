// A folder of files of columns, one for each table: what export has besides databases.
#pragma once

#include "base/interrupts.hpp"
#include "tables/arrow_file.hpp"
#include "tables/schema.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

/// All files appear at the end, and that of the recordings last.
class arrow_folder final : public table_sink {
public:
    /// Makes the folder if it is not there. Throws usage_error if it has such files and must not replace them, and
    /// output_error as all below does.
    arrow_folder(std::string folder, bool force);
    arrow_folder(arrow_folder const&) = delete;
    arrow_folder& operator=(arrow_folder const&) = delete;
    /// Without finish(), nothing stays.
    ~arrow_folder();

    /// The file that such a folder has when it is complete.
    [[nodiscard]] static std::string last_file(std::string const& folder) { return folder + "/recordings.arrow"; }

    void begin_file(file_row const& file) { file_ = file; }
    void begin(recording_row const& recording) override;
    void add(new_rows const& rows) override;
    void end(recording_row const& recording) override;
    /// Ends the file, with the report on its damage.
    void end_file(std::string_view damage);
    void finish();

    [[nodiscard]] std::uint64_t item_rows_added() const noexcept { return item_rows_added_; }

private:
    struct described_recording {
        file_row file;
        recording_row row;
        std::string damage;
    };

    [[nodiscard]] std::string path_of(std::string_view name) const;
    [[nodiscard]] std::unique_ptr<arrow_file> make(std::string_view name, std::vector<column> columns);
    [[nodiscard]] std::unique_ptr<arrow_file> make(table const& t);
    arrow_file& items_of(std::size_t table);
    void add_words(arrow_column& to, column_place const& place, std::vector<item_row> const& rows);
    void add_items(arrow_file& to, table_rows const& rows, item_layout const& layout);
    void write_recordings();

    std::string folder_;
    bool force_;
    std::optional<unfinished_name> unfinished_; // of the folder, if it was made
    file_row file_;
    std::vector<described_recording> recordings_;
    std::size_t first_of_file_ = 0;
    std::int32_t messages_ = 0; // of the current recording, and events
    std::int32_t event_number_ = 0;
    std::unique_ptr<arrow_file> ticks_;
    std::unique_ptr<arrow_file> players_;
    std::unique_ptr<arrow_file> message_table_;
    std::unique_ptr<arrow_file> events_;
    std::unique_ptr<arrow_file> others_;
    std::vector<std::unique_ptr<arrow_file>> items_; // those that have rows
    std::vector<std::string> written_;               // names of files
    std::string scratch_;
    std::uint64_t item_rows_added_ = 0;
};

} // namespace teewire::replay
