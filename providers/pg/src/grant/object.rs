//! What privileges can be had on, and where the catalogue keeps who has them.

use trueup_provider::{Error, FieldType, Result};

use super::Grant;
use crate::privilege::{Held, held_columns};
use crate::session::{Session, column};

/// The kinds of objects that privileges can be had on.
#[derive(FieldType, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectKind {
    /// A database.
    Database,
    /// A schema.
    Schema,
    /// A table, view, materialized view or foreign table.
    Table,
    /// All tables and views that are in a schema.
    AllTables,
    /// A sequence.
    Sequence,
    /// All sequences that are in a schema.
    AllSequences,
    /// A function or procedure.
    Function,
    /// All functions and procedures that are in a schema.
    AllFunctions,
    /// A type or domain.
    Type,
    /// A language for functions.
    Language,
    /// A foreign-data wrapper.
    ForeignDataWrapper,
    /// A foreign server.
    ForeignServer,
    /// A tablespace.
    Tablespace,
}

/// Where the catalogue keeps objects of a kind.
struct Place {
    keyword: &'static str,
    /// The tables and the condition that picks the objects, by `given.schema` and `given.name`.
    from: &'static str,
    /// How the object is written in a statement.
    target: &'static str,
    acl: &'static str,
    owner: &'static str,
    /// The letter of the kind's default privileges.
    default: &'static str,
}

const TABLES: &str = "pg_class o JOIN pg_namespace n ON n.oid = o.relnamespace
    WHERE o.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname = given.schema";
const TABLE: &str = "pg_class o JOIN pg_namespace n ON n.oid = o.relnamespace
    WHERE o.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname = given.schema AND o.relname = given.name";
const SEQUENCES: &str = "pg_class o JOIN pg_namespace n ON n.oid = o.relnamespace
    WHERE o.relkind = 'S' AND n.nspname = given.schema";
const SEQUENCE: &str = "pg_class o JOIN pg_namespace n ON n.oid = o.relnamespace
    WHERE o.relkind = 'S' AND n.nspname = given.schema AND o.relname = given.name";
const FUNCTIONS: &str =
    "pg_proc o JOIN pg_namespace n ON n.oid = o.pronamespace WHERE n.nspname = given.schema";
const FUNCTION: &str = "pg_proc o JOIN pg_namespace n ON n.oid = o.pronamespace
    WHERE n.nspname = given.schema AND o.proname = given.name AND (given.arguments IS NULL OR o.oid = to_regprocedure(
        format('%I.%I(%s)', given.schema, given.name, array_to_string(given.arguments, ', '))))";
const TYPE: &str = "pg_type o JOIN pg_namespace n ON n.oid = o.typnamespace
    WHERE n.nspname = given.schema AND o.typname = given.name";
const TYPE_TARGET: &str = "format('%I.%I', n.nspname, o.typname)";
const FUNCTION_TARGET: &str =
    "format('%I.%I(%s)', n.nspname, o.proname, pg_get_function_identity_arguments(o.oid))";

impl ObjectKind {
    fn place(self) -> Place {
        let named = "format('%I.%I', n.nspname, o.relname)";
        let place =
            |keyword, from, target, acl, owner, default| Place { keyword, from, target, acl, owner, default };
        match self {
            ObjectKind::Table => place("TABLE", TABLE, named, "relacl", "relowner", "r"),
            ObjectKind::AllTables => place("TABLE", TABLES, named, "relacl", "relowner", "r"),
            ObjectKind::Sequence => place("SEQUENCE", SEQUENCE, named, "relacl", "relowner", "s"),
            ObjectKind::AllSequences => place("SEQUENCE", SEQUENCES, named, "relacl", "relowner", "s"),
            ObjectKind::Function => place("ROUTINE", FUNCTION, FUNCTION_TARGET, "proacl", "proowner", "f"),
            ObjectKind::AllFunctions => {
                place("ROUTINE", FUNCTIONS, FUNCTION_TARGET, "proacl", "proowner", "f")
            }
            ObjectKind::Type => place("TYPE", TYPE, TYPE_TARGET, "typacl", "typowner", "T"),
            ObjectKind::Database => {
                let from = "pg_database o WHERE o.datname = given.name";
                place("DATABASE", from, "quote_ident(o.datname)", "datacl", "datdba", "d")
            }
            ObjectKind::Schema => {
                let from = "pg_namespace o WHERE o.nspname = given.name";
                place("SCHEMA", from, "quote_ident(o.nspname)", "nspacl", "nspowner", "n")
            }
            ObjectKind::Language => {
                let from = "pg_language o WHERE o.lanname = given.name";
                place("LANGUAGE", from, "quote_ident(o.lanname)", "lanacl", "lanowner", "l")
            }
            ObjectKind::ForeignDataWrapper => {
                let from = "pg_foreign_data_wrapper o WHERE o.fdwname = given.name";
                place("FOREIGN DATA WRAPPER", from, "quote_ident(o.fdwname)", "fdwacl", "fdwowner", "F")
            }
            ObjectKind::ForeignServer => {
                let from = "pg_foreign_server o WHERE o.srvname = given.name";
                place("FOREIGN SERVER", from, "quote_ident(o.srvname)", "srvacl", "srvowner", "S")
            }
            ObjectKind::Tablespace => {
                let from = "pg_tablespace o WHERE o.spcname = given.name";
                place("TABLESPACE", from, "quote_ident(o.spcname)", "spcacl", "spcowner", "t")
            }
        }
    }

    /// Whether it stands for any number of objects.
    pub(super) fn is_all(self) -> bool {
        matches!(self, ObjectKind::AllTables | ObjectKind::AllSequences | ObjectKind::AllFunctions)
    }

    /// Whether its objects are in a schema.
    pub(super) fn has_schema(self) -> bool {
        let within = [ObjectKind::Table, ObjectKind::Sequence, ObjectKind::Function, ObjectKind::Type];
        self.is_all() || within.contains(&self)
    }

    /// Whether all databases of a server share its objects.
    pub(super) fn is_shared(self) -> bool {
        matches!(self, ObjectKind::Database | ObjectKind::Tablespace)
    }
}

/// An object, and what a role holds on it.
pub(super) struct Object {
    /// As it is written in a statement, such as `TABLE "app"."songs"`.
    pub(super) on: String,
    pub(super) held: Held,
    /// Whether anyone ever granted or revoked anything on it.
    pub(super) touched: bool,
}

/// The objects that a grant is about.
pub(super) async fn objects(session: &Session, grant: &Grant, grantee: u32) -> Result<Vec<Object>> {
    let Place { keyword, from, target, acl, owner, default } = grant.on.place();
    let held =
        held_columns(&format!("coalesce(o.{acl}, acldefault('{default}', o.{owner}))"), "given.grantee");
    let query = format!(
        "WITH given AS (SELECT $1::oid AS grantee, $2::text AS schema, $3::text AS name, $4::text[] AS arguments)
         SELECT {target}::text AS target, o.{acl} IS NOT NULL AS touched, {held} FROM given, {from}
         ORDER BY 1"
    );
    let rows = session.rows(&query, &[&grantee, &grant.schema, &grant.name, &grant.arguments]).await?;
    if !grant.on.is_all() && rows.len() > 1 {
        let message = format!("there are {} functions of this name", rows.len());
        return Err(Error::invalid(message)
            .at("arguments")
            .hint("say which by the types of its `arguments`"));
    }
    let object = |row: &tokio_postgres::Row| {
        let target: String = column(row, "target")?;
        Ok(Object {
            on: format!("{keyword} {target}"),
            held: Held::of(row)?,
            touched: column(row, "touched")?,
        })
    };
    rows.iter().map(object).collect()
}
