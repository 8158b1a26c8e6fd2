#include "dashboard_page.h"

// The page is compiled into the program, so no file has to be installed and all files have the same version.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char api_js[] = {
#embed "page/api.js"
};
static const unsigned char app_js[] = {
#embed "page/app.js"
};
static const unsigned char backtest_js[] = {
#embed "page/backtest.js"
};
static const unsigned char budget_js[] = {
#embed "page/budget.js"
};
static const unsigned char card_js[] = {
#embed "page/card.js"
};
static const unsigned char cards_js[] = {
#embed "page/cards.js"
};
static const unsigned char chart_js[] = {
#embed "page/chart.js"
};
static const unsigned char codeeditor_js[] = {
#embed "page/codeeditor.js"
};
static const unsigned char colours_js[] = {
#embed "page/colours.js"
};
static const unsigned char course_js[] = {
#embed "page/course.js"
};
static const unsigned char csv_js[] = {
#embed "page/csv.js"
};
static const unsigned char dimmer_js[] = {
#embed "page/dimmer.js"
};
static const unsigned char dom_js[] = {
#embed "page/dom.js"
};
static const unsigned char editor_css[] = {
#embed "page/editor.css"
};
static const unsigned char editor_js[] = {
#embed "page/editor.js"
};
static const unsigned char energy_js[] = {
#embed "page/energy.js"
};
static const unsigned char events_js[] = {
#embed "page/events.js"
};
static const unsigned char fleet_js[] = {
#embed "page/fleet.js"
};
static const unsigned char format_js[] = {
#embed "page/format.js"
};
static const unsigned char gestures_js[] = {
#embed "page/gestures.js"
};
static const unsigned char german_js[] = {
#embed "page/german.js"
};
static const unsigned char help_js[] = {
#embed "page/help.js"
};
static const unsigned char house_js[] = {
#embed "page/house.js"
};
static const unsigned char icon_svg[] = {
#embed "page/icon.svg"
};
static const unsigned char index_html[] = {
#embed "page/index.html"
};
static const unsigned char language_js[] = {
#embed "page/language.js"
};
static const unsigned char layers_js[] = {
#embed "page/layers.js"
};
static const unsigned char library_LICENSE_txt[] = {
#embed "page/library/LICENSE.txt"
};
static const unsigned char library_README_txt[] = {
#embed "page/library/README.txt"
};
static const unsigned char library_codemirror_css[] = {
#embed "page/library/codemirror.css"
};
static const unsigned char library_codemirror_js[] = {
#embed "page/library/codemirror.js"
};
static const unsigned char library_yaml_js[] = {
#embed "page/library/yaml.js"
};
static const unsigned char live_js[] = {
#embed "page/live.js"
};
static const unsigned char login_js[] = {
#embed "page/login.js"
};
static const unsigned char machines_js[] = {
#embed "page/machines.js"
};
static const unsigned char manifest_webmanifest[] = {
#embed "page/manifest.webmanifest"
};
static const unsigned char memory_js[] = {
#embed "page/memory.js"
};
static const unsigned char notices_js[] = {
#embed "page/notices.js"
};
static const unsigned char offline_worker_js[] = {
#embed "page/offline-worker.js"
};
static const unsigned char offline_js[] = {
#embed "page/offline.js"
};
static const unsigned char order_js[] = {
#embed "page/order.js"
};
static const unsigned char pairing_js[] = {
#embed "page/pairing.js"
};
static const unsigned char panels_css[] = {
#embed "page/panels.css"
};
static const unsigned char power_js[] = {
#embed "page/power.js"
};
static const unsigned char powercontrols_js[] = {
#embed "page/powercontrols.js"
};
static const unsigned char powerlink_js[] = {
#embed "page/powerlink.js"
};
static const unsigned char powerwords_js[] = {
#embed "page/powerwords.js"
};
static const unsigned char push_js[] = {
#embed "page/push.js"
};
static const unsigned char rename_js[] = {
#embed "page/rename.js"
};
static const unsigned char rights_js[] = {
#embed "page/rights.js"
};
static const unsigned char room_js[] = {
#embed "page/room.js"
};
static const unsigned char rule_js[] = {
#embed "page/rule.js"
};
static const unsigned char rules_js[] = {
#embed "page/rules.js"
};
static const unsigned char series_js[] = {
#embed "page/series.js"
};
static const unsigned char sessions_js[] = {
#embed "page/sessions.js"
};
static const unsigned char settings_js[] = {
#embed "page/settings.js"
};
static const unsigned char sharing_js[] = {
#embed "page/sharing.js"
};
static const unsigned char sparkline_js[] = {
#embed "page/sparkline.js"
};
static const unsigned char style_css[] = {
#embed "page/style.css"
};
static const unsigned char switch_js[] = {
#embed "page/switch.js"
};
static const unsigned char tariff_js[] = {
#embed "page/tariff.js"
};
static const unsigned char templates_js[] = {
#embed "page/templates.js"
};
static const unsigned char theme_js[] = {
#embed "page/theme.js"
};
static const unsigned char timer_js[] = {
#embed "page/timer.js"
};
static const unsigned char traces_js[] = {
#embed "page/traces.js"
};
static const unsigned char update_js[] = {
#embed "page/update.js"
};
static const unsigned char words_js[] = {
#embed "page/words.js"
};

static const struct dashboard_file files[] = {
    {"api.js", api_js, sizeof api_js},
    {"app.js", app_js, sizeof app_js},
    {"backtest.js", backtest_js, sizeof backtest_js},
    {"budget.js", budget_js, sizeof budget_js},
    {"card.js", card_js, sizeof card_js},
    {"cards.js", cards_js, sizeof cards_js},
    {"chart.js", chart_js, sizeof chart_js},
    {"codeeditor.js", codeeditor_js, sizeof codeeditor_js},
    {"colours.js", colours_js, sizeof colours_js},
    {"course.js", course_js, sizeof course_js},
    {"csv.js", csv_js, sizeof csv_js},
    {"dimmer.js", dimmer_js, sizeof dimmer_js},
    {"dom.js", dom_js, sizeof dom_js},
    {"editor.css", editor_css, sizeof editor_css},
    {"editor.js", editor_js, sizeof editor_js},
    {"energy.js", energy_js, sizeof energy_js},
    {"events.js", events_js, sizeof events_js},
    {"fleet.js", fleet_js, sizeof fleet_js},
    {"format.js", format_js, sizeof format_js},
    {"gestures.js", gestures_js, sizeof gestures_js},
    {"german.js", german_js, sizeof german_js},
    {"help.js", help_js, sizeof help_js},
    {"house.js", house_js, sizeof house_js},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"index.html", index_html, sizeof index_html},
    {"language.js", language_js, sizeof language_js},
    {"layers.js", layers_js, sizeof layers_js},
    {"library/LICENSE.txt", library_LICENSE_txt, sizeof library_LICENSE_txt},
    {"library/README.txt", library_README_txt, sizeof library_README_txt},
    {"library/codemirror.css", library_codemirror_css, sizeof library_codemirror_css},
    {"library/codemirror.js", library_codemirror_js, sizeof library_codemirror_js},
    {"library/yaml.js", library_yaml_js, sizeof library_yaml_js},
    {"live.js", live_js, sizeof live_js},
    {"login.js", login_js, sizeof login_js},
    {"machines.js", machines_js, sizeof machines_js},
    {"manifest.webmanifest", manifest_webmanifest, sizeof manifest_webmanifest},
    {"memory.js", memory_js, sizeof memory_js},
    {"notices.js", notices_js, sizeof notices_js},
    {"offline-worker.js", offline_worker_js, sizeof offline_worker_js},
    {"offline.js", offline_js, sizeof offline_js},
    {"order.js", order_js, sizeof order_js},
    {"pairing.js", pairing_js, sizeof pairing_js},
    {"panels.css", panels_css, sizeof panels_css},
    {"power.js", power_js, sizeof power_js},
    {"powercontrols.js", powercontrols_js, sizeof powercontrols_js},
    {"powerlink.js", powerlink_js, sizeof powerlink_js},
    {"powerwords.js", powerwords_js, sizeof powerwords_js},
    {"push.js", push_js, sizeof push_js},
    {"rename.js", rename_js, sizeof rename_js},
    {"rights.js", rights_js, sizeof rights_js},
    {"room.js", room_js, sizeof room_js},
    {"rule.js", rule_js, sizeof rule_js},
    {"rules.js", rules_js, sizeof rules_js},
    {"series.js", series_js, sizeof series_js},
    {"sessions.js", sessions_js, sizeof sessions_js},
    {"settings.js", settings_js, sizeof settings_js},
    {"sharing.js", sharing_js, sizeof sharing_js},
    {"sparkline.js", sparkline_js, sizeof sparkline_js},
    {"style.css", style_css, sizeof style_css},
    {"switch.js", switch_js, sizeof switch_js},
    {"tariff.js", tariff_js, sizeof tariff_js},
    {"templates.js", templates_js, sizeof templates_js},
    {"theme.js", theme_js, sizeof theme_js},
    {"timer.js", timer_js, sizeof timer_js},
    {"traces.js", traces_js, sizeof traces_js},
    {"update.js", update_js, sizeof update_js},
    {"words.js", words_js, sizeof words_js},
    {NULL, NULL, 0},
};

const struct dashboard_file *dashboard_files(void) { return files; }

static const unsigned char openapi_json[] = {
#embed "api/openapi.json"
};

const struct dashboard_file dashboard_openapi = {"api/v1/openapi.json", openapi_json, sizeof openapi_json};
