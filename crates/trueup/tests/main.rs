//! The façade as users see it: contracts, derives, planning, the conformance kit.

mod compile_errors;
mod conformance_kit;
mod converge_contract;
mod crud_contract;
mod derives;
mod examples;
mod plan_hook;
mod planning;
mod presets;
mod secrets;
mod server;
mod shelf;
mod stacks;
mod stub_kit;
