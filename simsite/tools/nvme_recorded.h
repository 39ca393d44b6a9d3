// What nvme-cli 2.3 printed about QEMU 7.2's NVMe device (Debian 12, recorded in a guest), with the
// device's own values as placeholders (@SN@, @SECTORS@, …). Constants only.
#pragma once

namespace leasehold::simsite {

inline constexpr const char* kIdCtrl = R"({
  "vid":6966,
  "ssvid":6900,
  "sn":"@SN@",
  "mn":"@MN@",
  "fr":"7.2.22  ",
  "rab":6,
  "ieee":5395456,
  "cmic":0,
  "mdts":7,
  "cntlid":0,
  "ver":66560,
  "rtd3r":0,
  "rtd3e":0,
  "oaes":256,
  "ctratt":32768,
  "rrls":0,
  "cntrltype":1,
  "fguid":"00000000-0000-0000-0000-000000000000",
  "crdt1":0,
  "crdt2":0,
  "crdt3":0,
  "nvmsr":0,
  "vwci":0,
  "mec":0,
  "oacs":266,
  "acl":3,
  "aerl":3,
  "frmw":3,
  "lpa":7,
  "elpe":0,
  "npss":0,
  "avscc":0,
  "apsta":0,
  "wctemp":343,
  "cctemp":373,
  "mtfa":0,
  "hmpre":0,
  "hmmin":0,
  "tnvmcap":"0",
  "unvmcap":"0",
  "rpmbs":0,
  "edstt":0,
  "dsto":0,
  "fwug":0,
  "kas":0,
  "hctma":0,
  "mntmt":0,
  "mxtmt":0,
  "sanicap":0,
  "hmminds":0,
  "hmmaxd":0,
  "nsetidmax":0,
  "endgidmax":0,
  "anatt":0,
  "anacap":0,
  "anagrpmax":0,
  "nanagrpid":0,
  "pels":0,
  "domainid":0,
  "megcap":"0",
  "sqes":102,
  "cqes":68,
  "maxcmd":0,
  "nn":256,
  "oncs":349,
  "fuses":0,
  "fna":0,
  "vwc":7,
  "awun":0,
  "awupf":0,
  "icsvscc":0,
  "nwpc":0,
  "acwu":0,
  "ocfs":3,
  "sgls":1,
  "mnan":0,
  "maxdna":"0",
  "maxcna":0,
  "subnqn":"nqn.2019-08.org.qemu:@SERIAL@",
  "ioccsz":0,
  "iorcsz":0,
  "icdoff":0,
  "fcatt":0,
  "msdbd":0,
  "ofcs":0,
  "psds":[
    {
      "max_power":2500,
      "flags":0,
      "entry_lat":16,
      "exit_lat":4,
      "read_tput":0,
      "read_lat":0,
      "write_tput":0,
      "write_lat":0,
      "idle_power":0,
      "idle_scale":0,
      "active_power":0,
      "active_power_work":0,
      "active_scale":0
    }
  ]
}
)";

inline constexpr const char* kIdNs = R"({
  "nsze":@SECTORS@,
  "ncap":@SECTORS@,
  "nuse":@SECTORS@,
  "nsfeat":20,
  "nlbaf":7,
  "flbas":0,
  "mc":3,
  "dpc":31,
  "dps":0,
  "nmic":0,
  "rescap":0,
  "fpi":0,
  "dlfeat":1,
  "nawun":0,
  "nawupf":0,
  "nacwu":0,
  "nabsn":0,
  "nabo":0,
  "nabspf":0,
  "noiob":0,
  "nvmcap":"0",
  "nsattr":0,
  "nvmsetid":0,
  "npwg":0,
  "npwa":0,
  "npdg":7,
  "npda":7,
  "nows":0,
  "mssrl":0,
  "mcl":0,
  "msrc":0,
  "nulbaf":0,
  "anagrpid":0,
  "endgid":0,
  "eui64":"0000000000000000",
  "nguid":"00000000000000000000000000000000",
  "lbafs":[
    {
      "ms":0,
      "ds":9,
      "rp":0
    },
    {
      "ms":0,
      "ds":12,
      "rp":0
    }
  ]
}
)";

inline constexpr const char* kListNs = R"({
  "nsid_list":[
    {
      "nsid":1
    }
  ]
}
)";

inline constexpr const char* kListDevice = R"(    {
      "NameSpace":1,
      "DevicePath":"/dev/@NAME@",
      "Firmware":"7.2.22",
      "ModelNumber":"@MODEL@",
      "SerialNumber":"@SERIAL@",
      "UsedBytes":@BYTES@,
      "MaximumLBA":@SECTORS@,
      "PhysicalSize":@BYTES@,
      "SectorSize":512
    })";

// On stderr, unless --force is given.
inline constexpr const char* kFormatWarning =
    "You are about to format @NAME@, namespace 0x@NSID@.\n"
    "WARNING: Format may irrevocably delete this device's data.\n"
    "You have 10 seconds to press Ctrl-C to cancel this operation.\n"
    "\n"
    "Use the force [--force] option to suppress this warning.\n"
    "Sending format operation ... \n";

inline constexpr const char* kInvalidOpcode =
    "NVMe status: Invalid Command Opcode: A reserved coded value or an unsupported value in the "
    "command opcode field(0x4001)\n";
inline constexpr const char* kInvalidField =
    "NVMe status: Invalid Field in Command: A reserved coded value or an unsupported value in a "
    "defined field(0x4002)\n";

}  // namespace leasehold::simsite
