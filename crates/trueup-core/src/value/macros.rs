//! `value!`, for tests and for code that writes values down.

/// A [`Value`](crate::Value) in JSON-like notation: bare names are keys, anything else is a Rust expression that
/// converts into a value. An expression of more than one token stands in parentheses.
///
/// ```
/// use trueup_core::value;
///
/// let port = 8080;
/// let server = value!({ host: "localhost", ports: [port, (port + 1)], "log level": null });
/// assert_eq!(server.to_string(), r#"{ host = "localhost", "log level" = null, ports = [8080, 8081] }"#);
/// ```
#[macro_export]
macro_rules! value {
    (null) => { $crate::Value::NULL };
    ([ $($item:tt),* $(,)? ]) => { $crate::Value::list([ $($crate::value!($item)),* ]) };
    ({ $($key:tt : $item:tt),* $(,)? }) => {
        $crate::Value::object::<&str>([ $(($crate::value!(@key $key), $crate::value!($item))),* ])
    };
    (@key $key:ident) => { stringify!($key) };
    (@key $key:literal) => { $key };
    ($other:expr) => {{
        #[allow(unused_parens)]
        let value = $crate::Value::from($other);
        value
    }};
}
