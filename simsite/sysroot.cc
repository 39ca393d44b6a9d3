#include "simsite/sysroot.h"

#include <filesystem>
#include <fstream>

#include "core/base/files.h"

namespace leasehold::simsite {
namespace {

namespace fs = std::filesystem;

std::string padded(std::string text, size_t width) {
  text.resize(width, ' ');
  return text;
}

// Collects the first failure, so that the layout below reads as a list.
class Tree {
 public:
  explicit Tree(const std::string& root) : root_(root) {}
  void attribute(const std::string& path, const std::string& text) { write(path, text + "\n"); }
  void write(const std::string& path, const std::string& bytes) {
    fs::path file = fs::path(root_) / path;
    std::error_code problem;
    fs::create_directories(file.parent_path(), problem);
    std::ofstream out(file, std::ios::binary);
    out << bytes;
    out.close();
    if (!out) fail(file);
  }
  void symlink(const std::string& path, const std::string& target) {
    fs::path file = fs::path(root_) / path;
    std::error_code problem;
    fs::create_directories(file.parent_path(), problem);
    fs::create_symlink(target, file, problem);
    if (problem) fail(file);
  }
  void copy_folder(const std::string& path, const std::string& from) {
    fs::path folder = fs::path(root_) / path;
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (!fs::exists(from, problem)) return;
    fs::copy(from, folder, fs::copy_options::recursive, problem);
    if (problem) fail(folder);
  }
  Status status() const { return status_; }

 private:
  void fail(const fs::path& file) {
    if (status_.ok()) status_ = Error(Code::kIo, "cannot write " + file.string());
  }
  std::string root_;
  Status status_;
};

void add_disk(Tree& tree, const Disk& disk, size_t index) {
  std::string block = "sys/block/" + disk.name + "/";
  tree.attribute(block + "size", std::to_string(disk.bytes() / 512));
  tree.attribute(block + "removable", "0");
  tree.attribute(block + "ro", "0");
  tree.attribute(block + "hidden", "0");
  tree.attribute(block + "nsid", "1");
  if (!disk.config.wwn.empty()) tree.attribute(block + "wwid", disk.config.wwn);
  tree.attribute(block + "queue/rotational", "0");
  tree.attribute(block + "queue/logical_block_size", "512");
  tree.attribute(block + "device/serial", padded(disk.config.serial, 20));
  tree.attribute(block + "device/model", padded(disk.config.model, 40));
  tree.attribute(block + "device/firmware_rev", "7.2.22  ");
  tree.attribute(block + "device/transport", "pcie");
  tree.attribute(block + "device/state", "live");
  tree.attribute(block + "device/cntlid", "0");
  tree.symlink("dev/" + disk.name, disk.path);
  tree.write("dev/nvme" + std::to_string(index), "");
}

// nvidia-smi prints an eight-digit PCI domain, sysfs a four-digit one, both lower case there.
std::string sysfs_address(std::string address) {
  for (char& c : address) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (address.size() == 16 && address.rfind("0000", 0) == 0) return address.substr(4);
  return address;
}

void add_gpu(Tree& tree, const GpuConfig& gpu) {
  std::string device = "sys/bus/pci/devices/" + sysfs_address(gpu.pci) + "/";
  tree.attribute(device + "vendor", "0x10de");
  tree.attribute(device + "device", "0x2330");
  tree.attribute(device + "class", "0x030200");
}

}  // namespace

Status build_sysroot(const SysrootPlan& plan) {
  std::error_code problem;
  fs::remove_all(plan.root, problem);
  TRY(make_folders(plan.root, 0755));
  Tree tree(plan.root);
  tree.attribute("proc/cmdline", plan.cmdline);
  for (size_t i = 0; i < plan.disks.size(); ++i) add_disk(tree, plan.disks[i], i);
  for (const GpuConfig& gpu : plan.gpus) add_gpu(tree, gpu);
  tree.attribute("sys/class/net/lo/address", "00:00:00:00:00:00");
  tree.attribute("sys/class/net/eth0/address", plan.mac);
  tree.attribute("sys/class/dmi/id/sys_vendor", "Simsite");
  tree.attribute("sys/class/dmi/id/product_name", "SIM-1U");
  tree.attribute("sys/class/dmi/id/product_serial", plan.serial);
  tree.attribute("sys/class/dmi/id/board_serial", plan.board_serial);
  tree.attribute("sys/class/dmi/id/product_uuid", plan.uuid);
  tree.copy_folder("etc/leasehold", plan.image_etc);
  // A machine without GPUs has a PCI bus all the same; one whose bus cannot be seen shows nothing.
  fs::create_directories(fs::path(plan.root) / "sys/bus/pci/devices", problem);
  fs::create_directories(fs::path(plan.root) / "tmp", problem);
  fs::create_directories(fs::path(plan.root) / "run", problem);
  return tree.status();
}

Status build_shims(const std::string& folder, const std::string& shims_dir,
                   const std::string& machine, const std::string& control_socket) {
  std::error_code problem;
  fs::remove_all(folder, problem);
  TRY(make_folders(folder, 0755));
  Tree tree(folder);
  size_t shims = 0;
  for (const auto& entry : fs::directory_iterator(shims_dir, problem)) {
    tree.symlink(entry.path().filename(), fs::absolute(entry.path()));
    ++shims;
  }
  if (problem || shims == 0) {
    return Error(Code::kConfig,
                 "shims_dir " + shims_dir + " holds no tools; build the target shims");
  }
  tree.write("machine.json", dump_json({{"machine", machine}, {"control_socket", control_socket}}));
  return tree.status();
}

}  // namespace leasehold::simsite
