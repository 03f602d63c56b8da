import type { NetworkInterfaceInfo } from "node:os";
import { expect, it } from "vitest";
import { localAddress } from "../../../example-app/phone/local-address.js";

const v4 = (address: string, internal = false): NetworkInterfaceInfo => ({
  address,
  netmask: "255.255.255.0",
  family: "IPv4",
  mac: "00:00:00:00:00:00",
  internal,
  cidr: `${address}/24`,
});
const v6 = (address: string): NetworkInterfaceInfo => ({
  address,
  netmask: "ffff:ffff:ffff:ffff::",
  family: "IPv6",
  mac: "00:00:00:00:00:00",
  internal: false,
  cidr: `${address}/64`,
  scopeid: 2,
});
const LO = [v4("127.0.0.1", true)];

it.each([
  ["of the only network", { lo: LO, en0: [v6("fe80::1"), v4("192.168.1.5")] }, "192.168.1.5"],
  [
    "of a home, before that of a provider",
    { lo: LO, eth0: [v4("203.0.113.7")], wlan0: [v4("10.0.0.4")] },
    "10.0.0.4",
  ],
  [
    "of a machine, before those of its containers and tunnels",
    {
      "br-1f2e": [v4("172.18.0.1")],
      docker0: [v4("172.17.0.1")],
      utun3: [v4("10.8.0.2")],
      wlp2s0: [v4("172.20.10.3")],
    },
    "172.20.10.3",
  ],
  ["of a provider, where there is no other", { eth0: [v4("203.0.113.7")] }, "203.0.113.7"],
  [
    "of the range that ends at 172.31",
    { eth0: [v4("172.32.0.1"), v4("172.31.0.1")] },
    "172.31.0.1",
  ],
])("is the address %s", (_which, interfaces, address) => {
  expect(localAddress(interfaces)).toBe(address);
});

it.each([
  ["has no network", { lo: LO }],
  ["got no address from a router", { lo: LO, en0: [v4("169.254.10.1")] }],
  ["has a network of its containers alone", { lo: LO, docker0: [v4("172.17.0.1")] }],
  ["has IPv6 alone", { lo: LO, en0: [v6("fe80::1"), v6("fd00::2")] }],
  ["lists an interface without addresses", { en0: undefined }],
])("is none on a machine that %s", (_which, interfaces) => {
  expect(localAddress(interfaces)).toBeUndefined();
});
