//! What kind of address a number is. Extensions reach public addresses; everything else is somebody's inside.
//!
//! The tables are those of the IANA registries of special-purpose addresses, with the metadata services of cloud providers
//! added, one of which has a public number. Whatever IPv6 has not assigned as global unicast counts as reserved.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressClass {
    /// Reachable by everybody.
    Public,
    /// `0.0.0.0/8`, `::`. Many systems take it for the machine itself.
    Unspecified,
    /// `127.0.0.0/8`, `::1`.
    Loopback,
    /// `10/8`, `172.16/12`, `192.168/16`, `fc00::/7`, `fec0::/10`.
    Private,
    /// `169.254/16`, `fe80::/10`.
    LinkLocal,
    /// A service that hands the machine's own credentials to whoever asks.
    Metadata,
    /// `100.64/10`: between a provider and its customers.
    Shared,
    /// To many receivers.
    Multicast,
    /// `255.255.255.255`.
    Broadcast,
    /// For examples in documents and for measurements.
    Documentation,
    /// IPv6 that carries an IPv4 address through a relay (6to4, Teredo, IPv4-compatible, a network's own NAT64).
    Transition,
    /// Not assigned to anybody.
    Reserved,
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "a public address",
            Self::Unspecified => "the unspecified address",
            Self::Loopback => "an address of this machine",
            Self::Private => "an address of a private network",
            Self::LinkLocal => "an address of the local link",
            Self::Metadata => "the address of a cloud metadata service",
            Self::Shared => "an address of a provider's own network",
            Self::Multicast => "a multicast address",
            Self::Broadcast => "the broadcast address",
            Self::Documentation => "an address for documents and measurements",
            Self::Transition => "an IPv6 address that hides an IPv4 address",
            Self::Reserved => "a reserved address",
        })
    }
}

impl AddressClass {
    /// Whether a grant may name such an address literally. The others lead nowhere, or not to one certain machine.
    pub fn can_be_named(self) -> bool {
        match self {
            Self::Public
            | Self::Loopback
            | Self::Private
            | Self::LinkLocal
            | Self::Metadata
            | Self::Shared
            | Self::Documentation => true,
            Self::Unspecified | Self::Multicast | Self::Broadcast | Self::Transition | Self::Reserved => {
                false
            }
        }
    }
}

/// The kind of an address. An IPv4 address inside an IPv6 one that the system or the common NAT64 prefix turns back into it
/// is judged as that IPv4 address.
pub fn classify(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

/// Metadata services whose address is not in a range that tells.
const METADATA_V4: [Ipv4Addr; 5] = [
    Ipv4Addr::new(169, 254, 169, 254),
    // Tasks of Amazon ECS.
    Ipv4Addr::new(169, 254, 170, 2),
    // Alibaba.
    Ipv4Addr::new(100, 100, 100, 200),
    // Oracle.
    Ipv4Addr::new(192, 0, 0, 192),
    // Azure: a public number that is not.
    Ipv4Addr::new(168, 63, 129, 16),
];

const METADATA_V6: [Ipv6Addr; 2] = [
    // Amazon.
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254),
    // Google.
    Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254),
];

fn classify_v4(address: Ipv4Addr) -> AddressClass {
    if METADATA_V4.contains(&address) {
        return AddressClass::Metadata;
    }
    match address.octets() {
        [0, ..] => AddressClass::Unspecified,
        [127, ..] => AddressClass::Loopback,
        [10, ..] | [192, 168, ..] => AddressClass::Private,
        [172, b, ..] if b & 0xf0 == 16 => AddressClass::Private,
        [100, b, ..] if b & 0xc0 == 64 => AddressClass::Shared,
        [169, 254, ..] => AddressClass::LinkLocal,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => AddressClass::Documentation,
        [198, b, ..] if b & 0xfe == 18 => AddressClass::Documentation,
        // Protocol assignments, and the relays of 6to4.
        [192, 0, 0, _] | [192, 88, 99, _] => AddressClass::Reserved,
        [255, 255, 255, 255] => AddressClass::Broadcast,
        [a, ..] if a & 0xf0 == 224 => AddressClass::Multicast,
        [a, ..] if a & 0xf0 == 240 => AddressClass::Reserved,
        _ => AddressClass::Public,
    }
}

fn classify_v6(address: Ipv6Addr) -> AddressClass {
    if METADATA_V6.contains(&address) {
        return AddressClass::Metadata;
    }
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => AddressClass::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressClass::Loopback,
        // IPv4-mapped: the system connects to the IPv4 address. The common NAT64 prefix: the network does.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            classify_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
        }
        // IPv4-compatible and IPv4-translated forms, NAT64 of a network's own, Teredo, 6to4.
        [0, 0, 0, 0, 0, 0, _, _]
        | [0, 0, 0, 0, 0xffff, 0, _, _]
        | [0x64, 0xff9b, 1, ..]
        | [0x2001, 0, ..]
        | [0x2002, ..] => AddressClass::Transition,
        [a, ..] if a & 0xfe00 == 0xfc00 => AddressClass::Private,
        [a, ..] if a & 0xffc0 == 0xfe80 => AddressClass::LinkLocal,
        // Site-local, the predecessor of the private range.
        [a, ..] if a & 0xffc0 == 0xfec0 => AddressClass::Private,
        [a, ..] if a & 0xff00 == 0xff00 => AddressClass::Multicast,
        [0x2001, 0xdb8, ..] => AddressClass::Documentation,
        [0x3fff, b, ..] if b & 0xf000 == 0 => AddressClass::Documentation,
        // Protocol assignments: measurements, overlays.
        [0x2001, b, ..] if b & 0xfe00 == 0 => AddressClass::Reserved,
        // Global unicast.
        [a, ..] if a & 0xe000 == 0x2000 => AddressClass::Public,
        _ => AddressClass::Reserved,
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
