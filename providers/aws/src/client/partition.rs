//! Partitions: groups of regions.

/// A group of regions with accounts and host names of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Partition {
    Commercial,
    China,
    EuropeanSovereignCloud,
    GovCloud,
    Iso,
    IsoB,
    IsoE,
    IsoF,
}

impl Partition {
    /// The partition of a region; an unknown region is taken for one of the commercial partition.
    pub(crate) fn of(region: &str) -> Self {
        let known = [
            ("cn-", Partition::China),
            ("eusc-", Partition::EuropeanSovereignCloud),
            ("us-gov-", Partition::GovCloud),
            ("us-iso-", Partition::Iso),
            ("us-isob-", Partition::IsoB),
            ("eu-isoe-", Partition::IsoE),
            ("us-isof-", Partition::IsoF),
        ];
        let partition = known.iter().find(|(prefix, _)| region.starts_with(prefix));
        partition.map_or(Partition::Commercial, |(_, partition)| *partition)
    }

    /// The name, which ARNs begin with.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Partition::Commercial => "aws",
            Partition::China => "aws-cn",
            Partition::EuropeanSovereignCloud => "aws-eusc",
            Partition::GovCloud => "aws-us-gov",
            Partition::Iso => "aws-iso",
            Partition::IsoB => "aws-iso-b",
            Partition::IsoE => "aws-iso-e",
            Partition::IsoF => "aws-iso-f",
        }
    }

    /// The end of host names.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Partition::Commercial | Partition::GovCloud => "amazonaws.com",
            Partition::China => "amazonaws.com.cn",
            Partition::EuropeanSovereignCloud => "amazonaws.eu",
            Partition::Iso => "c2s.ic.gov",
            Partition::IsoB => "sc2s.sgov.gov",
            Partition::IsoE => "cloud.adc-e.uk",
            Partition::IsoF => "csp.hci.ic.gov",
        }
    }

    /// The end of host names that IPv6 reaches, too.
    pub(super) fn dual_stack_suffix(self) -> &'static str {
        match self {
            Partition::Commercial | Partition::GovCloud => "api.aws",
            Partition::China => "api.amazonwebservices.com.cn",
            Partition::EuropeanSovereignCloud => "api.amazonwebservices.eu",
            Partition::Iso => "api.aws.ic.gov",
            Partition::IsoB => "api.aws.scloud",
            Partition::IsoE => "api.cloud-aws.adc-e.uk",
            Partition::IsoF => "api.aws.hci.ic.gov",
        }
    }

    /// The region that IAM's one endpoint of the partition signs for.
    pub(super) fn iam_region(self) -> &'static str {
        match self {
            Partition::Commercial => "us-east-1",
            Partition::China => "cn-north-1",
            Partition::EuropeanSovereignCloud => "eusc-de-east-1",
            Partition::GovCloud => "us-gov-west-1",
            Partition::Iso => "us-iso-east-1",
            Partition::IsoB => "us-isob-east-1",
            Partition::IsoE => "eu-isoe-west-1",
            Partition::IsoF => "us-isof-south-1",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_tells_its_partition() {
        for (region, name) in [
            ("eu-central-1", "aws"),
            ("mx-central-1", "aws"),
            ("moon-1", "aws"),
            ("cn-northwest-1", "aws-cn"),
            ("eusc-de-east-1", "aws-eusc"),
            ("us-gov-east-1", "aws-us-gov"),
            ("us-iso-west-1", "aws-iso"),
            ("us-isob-east-1", "aws-iso-b"),
            ("eu-isoe-west-1", "aws-iso-e"),
            ("us-isof-south-1", "aws-iso-f"),
        ] {
            assert_eq!(Partition::of(region).name(), name, "{region}");
        }
    }
}
