//! The notes of which statements were run: the comment on an empty type.

use sha2::{Digest, Sha256};
use trueup_provider::{CallContext, Error, Ownership, Result};

use crate::mark::{Comment, new_mark};
use crate::session::{Session, column};
use crate::text::{identifier, literal};

/// What the name of the type begins with.
const PREFIX: &str = "trueup_sql_";

/// What the line of the notes begins with; the digests follow as JSON.
const BEGINNING: &str = "applied: ";

pub(super) struct Ledger {
    schema: String,
    type_name: String,
    mark: String,
    applied: Vec<String>,
}

impl Ledger {
    pub(super) fn new(schema: &str, name: &str) -> Self {
        let type_name = format!("{PREFIX}{name}");
        Ledger { schema: schema.to_owned(), type_name, mark: String::new(), applied: Vec::new() }
    }

    /// The digests of the statements that were run.
    pub(super) fn applied(&self) -> &[String] {
        &self.applied
    }

    /// The lock under which the series is run.
    pub(super) fn lock(&self) -> i64 {
        let digest = Sha256::digest(format!("{}.{}", self.schema, self.type_name));
        i64::from_be_bytes(std::array::from_fn(|at| digest[at]))
    }

    /// Reads the notes, and tells whose they are; `None` if there are none.
    pub(super) async fn look(
        &mut self,
        session: &Session,
        context: &CallContext,
    ) -> Result<Option<Ownership>> {
        let query = "SELECT obj_description(t.oid, 'pg_type') AS comment FROM pg_type t
                     JOIN pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname = $1 AND t.typname = $2";
        let row = session.row(query, &[&self.schema, &self.type_name]).await?;
        let Some(row) = row else { return Ok(None) };
        let text: Option<String> = column(&row, "comment")?;
        let comment = Comment::parse(text.as_deref());
        let applied = comment.human().strip_prefix(BEGINNING).unwrap_or("[]");
        self.applied = serde_json::from_str(applied).map_err(|error| {
            Error::conflict(format!(
                "the comment on the type `{}` is not as it was written: {error}",
                self.type_name
            ))
        })?;
        self.mark = new_mark(context);
        Ok(Some(comment.ownership(context)))
    }

    /// Reads the notes, or begins them. Those of someone else are taken over only if that was `granted`.
    pub(super) async fn open(
        &mut self,
        session: &Session,
        context: &CallContext,
        granted: bool,
    ) -> Result<()> {
        match self.look(session, context).await? {
            Some(Ownership::Unowned) if !granted => Err(Error::already_exists(format!(
                "there is a series of this name already: the type `{}` in the schema `{}` bears its notes",
                self.type_name, self.schema
            ))
            .at("name")),
            Some(Ownership::Owned { .. }) => Ok(()),
            found => {
                self.mark = new_mark(context);
                session.begin().await?;
                if found.is_none() {
                    session.run(&format!("CREATE TYPE {} AS ()", self.target())).await?;
                }
                session.run(&self.note(&self.applied)).await?;
                session.commit().await
            }
        }
    }

    /// The statement that notes which statements were run.
    pub(super) fn note(&self, applied: &[String]) -> String {
        let digests = serde_json::Value::from(applied.to_vec());
        let text = format!("{BEGINNING}{digests}\n{}", self.mark);
        format!("COMMENT ON TYPE {} IS {}", self.target(), literal(&text))
    }

    /// That these were run was committed.
    pub(super) fn noted(&mut self, applied: Vec<String>) {
        self.applied = applied;
    }

    /// The statement that ends the notes.
    pub(super) fn end(&self) -> String {
        format!("DROP TYPE {}", self.target())
    }

    fn target(&self) -> String {
        format!("{}.{}", identifier(&self.schema), identifier(&self.type_name))
    }
}
