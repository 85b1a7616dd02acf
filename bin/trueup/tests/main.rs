//! The program as people have it, in one binary: a folder per subject, each with its own introduction.

#[cfg(feature = "aws")]
mod aws;
mod binary;
mod failing;
#[cfg(feature = "full")]
mod golden;
#[cfg(feature = "full")]
mod keys;
#[cfg(feature = "full")]
mod kills;
mod pages;
#[cfg(feature = "pg")]
mod pg;
mod plugins;
mod referee;
#[cfg(feature = "full")]
mod teams;
