use super::*;
use proptest::prelude::*;

fn class(text: &str) -> AddressClass {
    classify(text.parse().expect(text))
}

// N3
#[test]
fn every_kind_of_address_that_is_not_public_is_told_apart() {
    use AddressClass::*;
    let table = [
        (Unspecified, "0.0.0.0 0.1.2.3 ::"),
        (Loopback, "127.0.0.1 127.255.255.254 ::1 ::ffff:127.0.0.1 64:ff9b::7f00:1"),
        (Private, "10.0.0.0 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 fc00::1 fdff::1 fec0::1"),
        (Private, "::ffff:10.0.0.1 64:ff9b::10.0.0.1"),
        (LinkLocal, "169.254.0.1 169.254.255.255 fe80::1 febf::1"),
        (Metadata, "169.254.169.254 169.254.170.2 100.100.100.200 192.0.0.192 168.63.129.16"),
        (Metadata, "fd00:ec2::254 fd20:ce::254 ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe"),
        (Shared, "100.64.0.1 100.127.255.255"),
        (Multicast, "224.0.0.1 239.255.255.255 ff02::1 ff0e::1"),
        (Broadcast, "255.255.255.255"),
        (Documentation, "192.0.2.1 198.51.100.1 203.0.113.1 198.18.0.1 198.19.255.255 2001:db8::1 3fff::1"),
        (
            Transition,
            "::127.0.0.1 ::8.8.8.8 2002:7f00:1:: 2002:808:808:: 2001::1 64:ff9b:1::1 ::ffff:0:127.0.0.1",
        ),
        (
            Reserved,
            "192.0.0.1 192.88.99.1 240.0.0.1 255.255.255.254 2001:2::1 2001:1ff::1 4000::1 100::1 5f00::1",
        ),
    ];
    for (expected, addresses) in table {
        for address in addresses.split(' ') {
            assert_eq!(class(address), expected, "{address}");
            assert_ne!(class(address), Public, "{address}");
        }
    }
}

// N3: the control.
#[test]
fn ordinary_addresses_are_public_up_to_the_borders_of_the_special_ranges() {
    for address in "8.8.8.8 1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 \
                    169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.167.255.255 \
                    192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 168.63.129.15 2606:4700::1111 \
                    2001:4860:4860::8888 2001:200::1 2003::1 3fff:1000::1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8"
        .split_whitespace()
    {
        assert_eq!(class(address), AddressClass::Public, "{address}");
    }
}

proptest! {
    #[test]
    fn hiding_an_ipv4_address_in_an_ipv6_one_never_makes_it_more_public(bits: u32) {
        let plain = classify(Ipv4Addr::from_bits(bits).into());
        let bits = u128::from(bits);
        for (prefix, shift) in [(0xffff_u128 << 32, 0), (0x64_ff9b_u128 << 96, 0), (0, 0), (0x2002_u128 << 112, 80)] {
            let hidden = classify(Ipv6Addr::from_bits(prefix | bits << shift).into());
            prop_assert!(hidden != AddressClass::Public || plain == AddressClass::Public);
        }
    }

    #[test]
    fn what_the_standard_library_knows_to_be_special_is_never_public(bits: u32, high: u128) {
        let v4 = Ipv4Addr::from_bits(bits);
        let special = v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_broadcast()
            || v4.is_documentation() || v4.is_multicast() || v4.is_unspecified();
        prop_assert!(!special || classify(v4.into()) != AddressClass::Public);
        let v6 = Ipv6Addr::from_bits(high);
        let special = v6.is_loopback() || v6.is_multicast() || v6.is_unique_local() || v6.is_unicast_link_local();
        prop_assert!(!special || classify(v6.into()) != AddressClass::Public);
    }
}
