#include "transport/gproxy/devices.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gt::proxy {
namespace {

using Json = nlohmann::json;

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == text.npos;
}

bool is_type(std::string_view text) {
  return text == "gpu" || text == "cpu" || text == "accelerator" || text == "custom";
}

bool matches(const DeviceFacts& device, const std::string& term) {
  if (term == "all") return true;
  if (is_number(term)) return device.number == std::stoul(term);
  if (is_type(term)) return device.type == term;
  const std::string pattern = term.find_first_of("*?") == term.npos ? "*" + term + "*" : term;
  return ::fnmatch(pattern.c_str(), device.name.c_str(), FNM_CASEFOLD) == 0;
}

std::vector<std::string> terms_of(std::string_view text) {
  std::vector<std::string> terms;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (end > 0) terms.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return terms;
}

std::string names_of(const std::vector<DeviceFacts>& devices) {
  std::string names;
  for (const DeviceFacts& d : devices) names += fmt::format("{}{} {}", names.empty() ? "" : ", ", d.number, d.name);
  return names;
}

}  // namespace

std::string to_json(const Inventory& inventory) {
  Json devices = Json::array();
  for (const DeviceFacts& d : inventory.devices) {
    devices.push_back({{"number", d.number}, {"platform", d.platform}, {"name", d.name}, {"type", d.type},
                       {"memory_bytes", d.memory_bytes}});
  }
  const Json all = {{"devices", devices}, {"notes", inventory.notes}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Inventory> inventory_from_json(std::string_view text) try {
  Inventory inventory;
  const Json all = Json::parse(text);
  for (const Json& d : all.at("devices")) {
    inventory.devices.push_back({d.at("number"), d.at("platform"), d.at("name"), d.at("type"), d.at("memory_bytes")});
  }
  inventory.notes = all.at("notes").get<std::vector<std::string>>();
  return inventory;
} catch (const Json::exception& e) {
  return Status(Kind::Corrupt, fmt::format("the list of devices cannot be read: {}", e.what()));
}

Result<std::vector<DeviceFacts>> select_devices(const std::vector<DeviceFacts>& all, std::string_view wanted) {
  const std::vector<std::string> terms = terms_of(wanted);
  std::vector<bool> chosen(all.size());
  for (const std::string& term : terms) {
    bool any = false;
    for (size_t i = 0; i < all.size(); ++i) {
      if (!matches(all[i], term)) continue;
      chosen[i] = any = true;
    }
    if (!any) {
      return Status(Kind::Invalid, fmt::format("--devices: no device is '{}'; there is: {}", term, names_of(all)));
    }
  }
  std::vector<DeviceFacts> devices;
  for (size_t i = 0; i < all.size(); ++i) {
    if (chosen[i]) devices.push_back(all[i]);
  }
  if (devices.empty()) return Status(Kind::Invalid, "--devices: names no device");
  return devices;
}

std::string device_line(const DeviceFacts& d) {
  return fmt::format("{} {} {} ({}), {:.1f} GiB", d.number, d.type, d.name, d.platform,
                     static_cast<double>(d.memory_bytes) / (1 << 30));
}

}  // namespace gt::proxy
