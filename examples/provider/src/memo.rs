//! Memos, which notes have replaced: those that hang there can become notes.

use trueup::{Context, Crud, Inputs, Outputs, Prior, Result};

use crate::board::Board;
use crate::note::{KIND, Note, NoteOutput};

/// A memo: a note of plain words.
#[derive(Inputs)]
pub struct Memo {
    /// Tells memos apart.
    #[trueup(identity, replace)]
    name: String,
    /// The text of the memo.
    text: String,
}

/// A memo as it hangs there.
#[derive(Outputs)]
pub struct MemoOutput {
    #[trueup(mirrors = "name")]
    name: String,
    #[trueup(mirrors = "text")]
    text: String,
}

impl Crud for Memo {
    type Output = MemoOutput;
    type Config = Board;

    async fn create(&self, context: &Context<Board>) -> Result<MemoOutput> {
        Ok(Note::plain(self.name.clone(), self.text.clone()).written(context.config())?.into())
    }

    async fn read(&self, context: &Context<Board>, prior: &MemoOutput) -> Result<MemoOutput> {
        Ok(context.config().get::<NoteOutput>(KIND, &prior.name)?.into())
    }

    async fn update(&self, context: &Context<Board>, _: &Prior<Self>) -> Result<MemoOutput> {
        self.create(context).await
    }

    async fn delete(&self, context: &Context<Board>, prior: &MemoOutput) -> Result<()> {
        context.config().remove(KIND, &prior.name)
    }
}

impl From<NoteOutput> for MemoOutput {
    fn from(note: NoteOutput) -> Self {
        MemoOutput { name: note.title, text: note.body }
    }
}
