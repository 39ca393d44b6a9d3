// The body of inventory/v1: what the ramdisk sees in its machine. At enrolment it becomes the
// manifest; in a release it is compared with it. Values only, any thread.
#pragma once

#include <string>
#include <vector>

#include "core/evidence/diagnosis.h"
#include "core/evidence/disk.h"

namespace leasehold {

struct SystemInfo {  // DMI; empty where the firmware says nothing
  std::string manufacturer;
  std::string product;
  std::string serial;
  std::string uuid;
  std::string board_serial;  // absent in reports of ramdisks before 0.2
  static Result<SystemInfo> from_json(const Json& json);
};

struct InventoryReport {
  std::vector<ManifestEntry> disks;
  std::vector<Gpu> gpus;
  std::vector<std::string> macs;
  SystemInfo system;
  static Result<InventoryReport> from_json(const Json& body);
  Json to_json() const;
};

}  // namespace leasehold
