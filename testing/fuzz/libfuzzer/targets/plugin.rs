#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| trueup_fuzz::check("plugin", bytes));
