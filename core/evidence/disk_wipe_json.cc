#include "core/evidence/disk_wipe.h"
#include "core/evidence/disk_words.h"

namespace leasehold {
namespace {

template <class E, size_t N>
Result<E> parse_word(const Words<E, N>& words, std::string_view text, const char* what) {
  for (const auto& [value, word] : words) {
    if (word == text) return value;
  }
  return Error(Code::kInvalidInput, std::string(what) + " has an unknown word", what);
}

}  // namespace

std::string_view method_name(WipeMethod method) { return word_of(kMethodWords, method); }
std::string_view readback_extent_name(ReadbackExtent extent) {
  return word_of(kExtentWords, extent);
}
Result<WipeMethod> parse_wipe_minimum(std::string_view word) {
  return parse_word(kWipeMinimumWords, word, "wipe_minimum");
}
Result<ReadbackExtent> parse_readback_extent(std::string_view word) {
  return parse_word(kExtentWords, word, "readback");
}

Result<WipeCommand> WipeCommand::from_json(const Json& json) {
  StrictObject object(json, "command", {"argv", "exit", "output"});
  WipeCommand command;
  command.argv = object.texts("argv");
  if (command.argv.empty()) object.fail("argv", "is empty");
  command.exit = object.number("exit");
  command.output = object.text("output");
  TRY(object.status());
  return command;
}

Json WipeCommand::to_json() const { return {{"argv", argv}, {"exit", exit}, {"output", output}}; }

Result<Markers> Markers::from_json(const Json& json) {
  StrictObject object(json, "markers", {"written", "survived"});
  Markers markers;
  markers.written = object.count("written");
  markers.survived = object.count("survived");
  TRY(object.status());
  return markers;
}

Result<Readback> Readback::from_json(const Json& json) {
  StrictObject object(json, "readback",
                      {"bytes", "coverage_ppm", "seed", "class", "mismatched_bytes", "direct_io"});
  Readback readback;
  readback.bytes = object.count("bytes");
  readback.coverage_ppm = object.count("coverage_ppm");
  readback.seed = object.text("seed");
  readback.found = object.word("class", kClassWords);
  readback.mismatched_bytes = object.count("mismatched_bytes");
  readback.direct_io = object.flag("direct_io");
  TRY(object.status());
  return readback;
}

Json Readback::to_json() const {
  return {{"bytes", bytes},
          {"coverage_ppm", coverage_ppm},
          {"seed", seed},
          {"class", word_of(kClassWords, found)},
          {"mismatched_bytes", mismatched_bytes},
          {"direct_io", direct_io}};
}

Result<DiskWipe> DiskWipe::from_json(const Json& json) {
  StrictObject object(
      json, "disk's wipe",
      {"serial", "wwn", "model", "capacity_bytes", "transport", "hidden_areas", "method",
       "technique", "standard", "commands", "markers", "readback", "verdict", "reason"});
  TRY(object.status());
  Json entry = Json::object();
  for (const char* key :
       {"serial", "wwn", "model", "capacity_bytes", "transport", "hidden_areas"}) {
    entry[key] = json[key];
  }
  DiskWipe wipe;
  wipe.disk = TRY(ManifestEntry::from_json(entry));
  wipe.method = object.word("method", kMethodWords);
  wipe.technique = object.text("technique");
  wipe.standard = object.text("standard");
  wipe.commands = object.list<WipeCommand>("commands", WipeCommand::from_json);
  wipe.markers = object.nested<Markers>("markers", Markers::from_json);
  wipe.readback = object.nested<Readback>("readback", Readback::from_json);
  wipe.verdict = object.word("verdict", kVerdictWords);
  wipe.reason = object.text("reason");
  TRY(object.status());
  return wipe;
}

Json DiskWipe::to_json() const {
  Json out = disk.to_json();
  Json list = Json::array();
  for (const WipeCommand& command : commands) list.push_back(command.to_json());
  out["method"] = method_name(method);
  out["technique"] = technique;
  out["standard"] = standard;
  out["commands"] = std::move(list);
  out["markers"] = {{"written", markers.written}, {"survived", markers.survived}};
  out["readback"] = readback.to_json();
  out["verdict"] = verdict_name(verdict);
  out["reason"] = reason;
  return out;
}

Result<DiskWipeReport> DiskWipeReport::from_json(const Json& body) {
  StrictObject object(body, "disk-wipe", {"expected", "observed", "disks", "verdict"});
  DiskWipeReport report;
  report.expected = TRY(DiskManifest::from_json(object.array("expected")));
  report.observed = object.list<ManifestEntry>("observed", ManifestEntry::from_json);
  report.disks = object.list<DiskWipe>("disks", DiskWipe::from_json);
  report.verdict = object.word("verdict", kVerdictWords);
  TRY(object.status());
  return report;
}

Json DiskWipeReport::to_json() const {
  Json seen = Json::array();
  for (const ManifestEntry& entry : observed) seen.push_back(entry.to_json());
  Json wipes = Json::array();
  for (const DiskWipe& wipe : disks) wipes.push_back(wipe.to_json());
  return {{"expected", expected.to_json()},
          {"observed", seen},
          {"disks", wipes},
          {"verdict", verdict_name(verdict)}};
}

}  // namespace leasehold
