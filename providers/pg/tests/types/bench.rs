//! The engine on a server.

use trueup_core::Value;
use trueup_program::{Expression, Node, ResourceDeclaration};
use trueup_provider::Registry;
use trueup_provider_pg::pg_provider;
use trueup_test_servers::postgres::Postgres;
use trueup_workbench::{Workbench, address};

/// A workbench for the superuser. What the provider is to know it is told by PostgreSQL's own variables.
pub(crate) fn bench(server: &Postgres) -> Workbench {
    bench_of(server, "postgres", "")
}

/// The same for a user with a password.
pub(crate) fn bench_of(server: &Postgres, user: &str, password: &str) -> Workbench {
    let variables = [
        ("PGHOST", "127.0.0.1".to_owned()),
        ("PGPORT", server.port().to_string()),
        ("PGUSER", user.to_owned()),
        ("PGPASSWORD", password.to_owned()),
    ];
    let variable =
        move |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    Workbench::new(move || Registry::new().with(pg_provider(variable.clone())))
}

/// A resource whose inputs are values and references.
pub(crate) fn resource_of<const N: usize>(of: &str, inputs: [(&str, Expression); N]) -> ResourceDeclaration {
    let inputs = inputs.into_iter().map(|(name, input)| (name.into(), input)).collect();
    ResourceDeclaration::new(address(of), Expression::new(Node::Object(inputs)))
}

/// A value as an input.
pub(crate) fn given(value: impl Into<Value>) -> Expression {
    value.into().into()
}
