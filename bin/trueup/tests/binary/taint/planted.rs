//! Planted leaks: the finder finds each form of a secret, and no more.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::finder::{Finder, json_escaped};
use super::garbled::{FORMS, garbled};

/// SECRET-8: the forms that docs/secrets.md lists, in those nestings that servers produce.
#[test]
fn a_planted_leak_is_found_in_each_form() {
    let secret = "s3cr\"t/of+ä&<thing> n° 7";
    let finder = Finder::new(&[secret]);
    for (form, _) in FORMS {
        let leak = format!("...{}...", garbled(form, "whole", secret));
        assert!(finder.find(leak.as_bytes()).is_some(), "{form}: {leak}");
    }
    for before in ["", "a", "ab", "abc", "user:"] {
        for text in [secret, &json_escaped(secret)] {
            for leak in
                [STANDARD.encode(format!("{before}{text}!")), URL_SAFE.encode(format!("{before}{text}"))]
            {
                assert!(finder.find(leak.as_bytes()).is_some(), "{before}{text}: {leak}");
            }
        }
    }
}

/// SECRET-8: half of a form, wherever it is cut.
#[test]
fn a_planted_leak_is_found_by_half_of_it() {
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let finder = Finder::new(&[secret]);
    for form in ["plain", "hexadecimal", "hexadecimal-capital", "base64"] {
        let whole = garbled(form, "whole", secret);
        let whole = whole.trim_end_matches('=');
        let length = whole.len().div_ceil(2);
        for start in 0..=whole.len() - length {
            let piece = &whole[start..start + length];
            assert!(finder.find(format!("...{piece}...").as_bytes()).is_some(), "{piece}");
        }
    }
}

/// docs/secrets.md says what is out of reach: short pieces, and what nobody could read.
#[test]
fn what_is_no_leak_is_not_found() {
    let finder = Finder::new(&["ghp_16C7e42F292c6912E7710c838347Ae178B4a"]);
    for text in
        ["it begins with ghp_", "it ends with 10c838347Ae178B4a", "a4B871eA743838c0177E2196c292F24e7C61_phg"]
    {
        assert_eq!(finder.find(text.as_bytes()), None, "{text}");
    }
}
