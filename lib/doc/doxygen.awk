# What Doxygen reads in the place of the files. It knows no anchors of headings as other viewers of Markdown do, so that
# each heading of a document gets a label here, and each link and citation of one becomes a reference to its label.
function stem(path) { sub(/.*\//, "", path); sub(/\.md$/, "", path); return path }
function slug(heading) {
    heading = tolower(heading)
    gsub(/[^a-z0-9 _-]/, "", heading)
    gsub(/ /, "-", heading)
    return heading
}
function label(target,    at) { # "format/demo.md#tick-markers", "demo.md", "#tick-markers"
    at = index(target, "#")
    if (at == 1) return stem(FILENAME) "_" substr(target, 2)
    return at ? stem(substr(target, 1, at - 1)) "_" substr(target, at + 1) : "document_" stem(target)
}
FILENAME ~ /\.md$/ && /^```/ { fenced = !fenced }
FILENAME ~ /\.md$/ && !fenced {
    if (/^#/ && !/\{#/) {
        text = $0
        sub(/^#+ /, "", text)
        $0 = $0 " {#" (/^# / ? "document_" stem(FILENAME) : stem(FILENAME) "_" slug(text)) "}"
    }
    rest = $0
    $0 = ""
    while (match(rest, /\]\((format\/|\.\.\/)?([A-Za-z]+\.md)?(#[a-z0-9_-]+)?\)/)) {
        target = substr(rest, RSTART + 2, RLENGTH - 3)
        $0 = $0 substr(rest, 1, RSTART) (target ~ /README/ ? "(" target ")" : "(@ref " label(target) ")")
        rest = substr(rest, RSTART + RLENGTH)
    }
    $0 = $0 rest
}
FILENAME !~ /\.md$/ {
    gsub(/friend .*operator(==|<=>).*= default;/, "") # comparing member by member needs no words
    while (match($0, /doc\/format\/[a-z]+\.md(#[a-z0-9_-]+)?/)) {
        target = substr($0, RSTART, RLENGTH)
        text = target
        gsub(/^doc\/format\/|\.md/, "", text)
        gsub(/[#-]/, " ", text)
        $0 = substr($0, 1, RSTART - 1) "[" text "](@ref " label(target) ")" substr($0, RSTART + RLENGTH)
    }
}
{ print }
