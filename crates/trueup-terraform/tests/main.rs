//! Values on the wire, and the schemas of a real provider.

mod aws;
mod values;
