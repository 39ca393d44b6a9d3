#include "pxe/image_folder.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "tests/unit/pxe/fakes.h"

namespace leasehold {
namespace {

TEST_CASE("a file is read in pieces") {
  TemporaryFolder folder;
  folder.file("vmlinuz", "0123456789");
  ImageFolder images(folder.path);
  auto file = images.open("vmlinuz").value();
  CHECK(file->size() == 10);
  CHECK(file->read(0, 4).value() == "0123");
  CHECK(file->read(8, 4).value() == "89");
  CHECK(file->read(10, 4).value().empty());
  CHECK(file->read(99, 4).value().empty());
}

TEST_CASE("a file that shrinks while it is served is an error, not short data") {
  TemporaryFolder folder;
  folder.file("vmlinuz", "0123456789");
  auto file = ImageFolder(folder.path).open("vmlinuz").value();
  folder.file("vmlinuz", "0123");
  CHECK(file->read(4, 4).error().code == Code::kIo);
}

TEST_CASE("another case finds the only file of that name") {
  TemporaryFolder folder;
  folder.file("Ramdisk.img", "one");
  ImageFolder images(folder.path);
  CHECK(images.open("RAMDISK.IMG").ok());
  folder.file("rAMDISK.img", "two");
  CHECK(images.open("RAMDISK.IMG").error().code == Code::kNotFound);
  CHECK(images.open("rAMDISK.img").value()->read(0, 9).value() == "two");
}

TEST_CASE("only plain files of the folder itself are found") {
  TemporaryFolder folder;
  folder.file("vmlinuz", "x");
  folder.file(".hidden", "x");
  ::mkdir((folder.path + "/sub").c_str(), 0700);
  ::mkfifo((folder.path + "/fifo").c_str(), 0600);
  ImageFolder images(folder.path + "/");
  CHECK(images.open("vmlinuz").ok());
  for (const char* name : {"", ".", "..", "../vmlinuz", "sub", "sub/x", "fifo", ".hidden",
                           "/etc/passwd", "nothing", "vmlinuz\n"}) {
    INFO(name);
    CHECK(images.open(name).error().code == Code::kNotFound);
  }
}

TEST_CASE("paths of firmware are made plain") {
  CHECK(normalise_boot_path("/image/vmlinuz") == "/image/vmlinuz");
  CHECK(normalise_boot_path("image/vmlinuz") == "/image/vmlinuz");
  CHECK(normalise_boot_path("//image//vmlinuz") == "/image/vmlinuz");
  CHECK(normalise_boot_path("\\image\\vmlinuz") == "/image/vmlinuz");
  CHECK(normalise_boot_path("/image/vmlinuz\xff") == "/image/vmlinuz");
  CHECK(normalise_boot_path(std::string_view("/image/vmlinuz\0\xff", 16)) == "/image/vmlinuz");
  CHECK(normalise_boot_path("/image/../vmlinuz") == "/image/../vmlinuz");
  CHECK(normalise_boot_path("") == "");
  CHECK(normalise_boot_path("///") == "/");
}

}  // namespace
}  // namespace leasehold
