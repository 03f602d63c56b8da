/** By which address other devices in the same network reach this machine. */
import { networkInterfaces } from "node:os";

type Interfaces = ReturnType<typeof networkInterfaces>;

/** Networks inside of this machine: of containers, of virtual machines, and of tunnels. */
const VIRTUAL = /^(?:docker|br-|veth|virbr|vmnet|vboxnet|vEthernet|tun|tap|utun|wg|tailscale|zt)/i;
/** The ranges that homes and offices use. */
const PRIVATE = /^(?:192\.168\.|10\.|172\.(?:1[6-9]|2\d|3[01])\.)/;
/** A device gives itself such an address when no router gives it one. */
const SELF_ASSIGNED = /^169\.254\./;

/**
 * The IPv4 address that a phone most likely reaches: a private one first, and never one of a network
 * inside of this machine. IPv6 addresses are left out: those of a local network need a zone, which no
 * browser takes.
 *
 * @returns `undefined` on a machine without such an address.
 */
export function localAddress(interfaces: Interfaces = networkInterfaces()): string | undefined {
  const addresses = Object.entries(interfaces)
    .filter(([name]) => !VIRTUAL.test(name))
    .flatMap(([, each]) => each ?? [])
    .filter(({ family, internal }) => family === "IPv4" && !internal)
    .map(({ address }) => address)
    .filter((address) => !SELF_ASSIGNED.test(address));
  return addresses.find((address) => PRIVATE.test(address)) ?? addresses[0];
}
