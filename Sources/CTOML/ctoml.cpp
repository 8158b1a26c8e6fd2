// toml++ returns errors instead of throwing exceptions, which must not reach a caller in C.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include "ctoml.h"

#include <cstdio>
#include <sstream>
#include <string_view>

namespace {

// For some invalid texts an assertion in toml++ 3.3 fails instead of an error being returned. It would crash the
// program or, without assertions, cause undefined behavior. So a failed assertion throws, and the text is rejected.
struct lost {};

[[noreturn]] void lose() { throw lost{}; }

} // namespace

#undef NDEBUG
#define TOML_ASSERT(expression) ((expression) ? void() : lose())
#include <toml++/toml.h>

namespace {

ctoml_text text(std::string_view view) { return {view.data(), view.size()}; }

const char *word(toml::node_type type) {
    switch (type) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "an array";
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time: return "a date or time";
    default: return "an unknown type";
    }
}

bool is_texts(const toml::node &node) {
    const auto *array = node.as_array();
    if (!array) return false;
    for (const auto &item : *array) {
        if (!item.is_string()) return false;
    }
    return true;
}

ctoml_entry entry(const toml::key &key, const toml::node &node) {
    ctoml_entry entry{};
    entry.key = text(key.str());
    entry.line = key.source().begin.line;
    if (auto *string = node.as_string()) {
        entry.kind = CTOML_STRING;
        entry.string = text(string->get());
    } else if (auto *integer = node.as_integer()) {
        entry.kind = CTOML_INTEGER;
        entry.integer = integer->get();
    } else if (auto *number = node.as_floating_point()) {
        entry.kind = CTOML_FLOAT;
        entry.number = number->get();
    } else if (auto *boolean = node.as_boolean()) {
        entry.kind = CTOML_BOOLEAN;
        entry.boolean = boolean->get();
    } else if (is_texts(node)) {
        entry.kind = CTOML_TEXTS;
    } else {
        entry.kind = CTOML_OTHER;
        entry.string = text(word(node.type()));
    }
    return entry;
}

/// Reports a key with its value, and then the items if the value is a list of texts.
void tell(
    ctoml_text table, const toml::key &key, const toml::node &node, void *context,
    void (*report)(void *context, const ctoml_entry *entry)) {
    auto told = entry(key, node);
    told.table = table;
    report(context, &told);
    if (told.kind != CTOML_TEXTS) return;
    for (const auto &item : *node.as_array()) {
        ctoml_entry inner{};
        inner.table = table;
        inner.key = told.key;
        inner.kind = CTOML_ITEM;
        inner.string = text(item.as_string()->get());
        inner.line = item.source().begin.line;
        report(context, &inner);
    }
}

} // namespace

extern "C" bool ctoml_read(
    const char *bytes, size_t length, void *context,
    void (*report)(void *context, const ctoml_entry *entry), ctoml_fault *fault) try {
    const auto result = toml::parse(std::string_view(bytes, length));
    if (!result) {
        const auto &error = result.error();
        const auto reason = error.description();
        std::snprintf(
            fault->reason, sizeof fault->reason, "%.*s", static_cast<int>(reason.size()), reason.data());
        fault->line = error.source().begin.line;
        fault->column = error.source().begin.column;
        return false;
    }
    for (const auto &[name, node] : result.table()) {
        if (const auto *table = node.as_table()) {
            ctoml_entry beginning{};
            beginning.table = text(name.str());
            beginning.kind = CTOML_TABLE;
            beginning.line = name.source().begin.line;
            report(context, &beginning);
            for (const auto &[key, value] : *table) tell(beginning.table, key, value, context, report);
        } else {
            tell({}, name, node, context, report);
        }
    }
    return true;
} catch (const lost &) {
    std::snprintf(fault->reason, sizeof fault->reason, "a key or a value is missing");
    fault->line = fault->column = 0;
    return false;
}
