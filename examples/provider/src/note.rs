//! Notes, by the CRUD contract: with defaults, a secret, a number that the provider chooses, and a former version.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use trueup::{
    Context, Crud, Error, FieldType, Found, Inputs, ModifyPlan, Outputs, PlanHook, Prior, RawState, Result,
    Secret, Value, changed, value,
};

use crate::board::Board;

pub(crate) const KIND: &str = "note";

/// A note on the board.
#[derive(Inputs)]
pub struct Note {
    /// Tells notes apart.
    #[trueup(identity, replace, pattern = "^[a-z0-9-]+$")]
    title: String,
    /// The text of the note.
    body: String,
    /// The colour of the paper.
    #[trueup(default = "yellow", one_of("yellow", "blue", "pink"))]
    color: String,
    /// Where it hangs; the provider takes the next free place.
    #[trueup(computed, replace)]
    place: Option<u64>,
    /// Free labels.
    #[trueup(default)]
    labels: BTreeMap<String, String>,
    /// What there is to do.
    #[trueup(default)]
    tasks: Vec<Task>,
    /// Whoever knows it may take the note down.
    pin: Option<Secret<String>>,
    /// A file that is copied to the board.
    attachment: Option<String>,
    /// A file that must exist before the note counts as made: somebody's approval.
    approval: Option<String>,
}

/// Something to do.
#[derive(Clone, FieldType)]
pub struct Task {
    /// What.
    text: String,
    /// Whether it is done.
    #[trueup(default)]
    done: bool,
}

/// A note as it hangs there.
#[derive(Outputs)]
pub struct NoteOutput {
    /// The id by which it is imported.
    #[trueup(stable)]
    id: String,
    #[trueup(mirrors = "title")]
    pub(crate) title: String,
    #[trueup(mirrors = "body")]
    pub(crate) body: String,
    #[trueup(mirrors = "color")]
    color: String,
    #[trueup(stable)]
    place: u64,
    #[trueup(mirrors = "labels")]
    labels: BTreeMap<String, String>,
    #[trueup(mirrors = "tasks")]
    tasks: Vec<Task>,
    /// The number of characters.
    size: u64,
    /// What the pin opens the note with.
    key: Secret<String>,
}

impl Crud for Note {
    type Output = NoteOutput;
    type Config = Board;
    const SCHEMA_VERSION: u64 = 2;
    const MOVES_FROM: &'static [&'static str] = &["notes_memo"];

    async fn create(&self, context: &Context<Board>) -> Result<NoteOutput> {
        let board = context.config();
        if context.pending.is_some() {
            return self.approved(context, board.get(KIND, &self.title)?);
        }
        if board.has(KIND, &self.title) {
            return Err(Error::already_exists(format!("there is a note `{}`", self.title)).at("title"));
        }
        if board.names(KIND)?.len() >= board.capacity {
            return Err(Error::conflict("the board is full").at("title").hint("raise `capacity`"));
        }
        let made = self.written(board)?;
        self.attach(&made)?;
        self.approved(context, made)
    }

    async fn read(&self, context: &Context<Board>, prior: &NoteOutput) -> Result<NoteOutput> {
        context.config().get(KIND, &prior.title)
    }

    async fn update(&self, context: &Context<Board>, _: &Prior<Self>) -> Result<NoteOutput> {
        let written = self.written(context.config())?;
        self.attach(&written)?;
        Ok(written)
    }

    async fn delete(&self, context: &Context<Board>, prior: &NoteOutput) -> Result<()> {
        context.config().remove(KIND, &prior.title)
    }

    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let prior = request.prior.as_ref().and_then(|prior| prior.inputs.as_ref());
        let Some(prior) = prior else { return Ok(()) };
        if changed(&prior.body, &request.current.body) {
            plan.mark_output_unknown("size");
        }
        if changed(&prior.pin, &request.current.pin) {
            plan.mark_output_unknown("key");
        }
        Ok(())
    }

    async fn import(&self, context: &Context<Board>, id: &str) -> Result<Found<Self, NoteOutput>> {
        let outputs: NoteOutput = context.config().get(KIND, id)?;
        let inputs = Note {
            title: outputs.title.clone(),
            body: outputs.body.clone(),
            color: outputs.color.clone(),
            place: None,
            labels: outputs.labels.clone(),
            tasks: outputs.tasks.clone(),
            pin: None,
            attachment: None,
            approval: None,
        };
        Ok(Found { inputs, outputs })
    }

    /// The first version called the body `text`.
    fn migrate(_from_version: u64, state: RawState) -> Result<RawState> {
        let renamed = |values: &Value| match values.get("text") {
            Some(text) => values.with_entry("body", text.clone()),
            None => values.clone(),
        };
        Ok(RawState { inputs: renamed(&state.inputs), outputs: renamed(&state.outputs) })
    }

    /// A memo becomes a note of the same words.
    fn move_state(_from_type: &str, _from_version: u64, state: RawState) -> Result<RawState> {
        let at = |name: &str| state.outputs.get(name).cloned().unwrap_or(Value::NULL);
        let text = at("text");
        let size = text.as_str().map_or(0, |text| text.chars().count() as u64);
        let inputs = value!({ title: (at("name")), body: (text.clone()) });
        let outputs = value!({
            id: (at("name")), title: (at("name")), body: text, color: "yellow", place: 0, size: size,
            labels: (Value::map::<&str>([])), tasks: [], key: (value!("").into_secret()),
        });
        Ok(RawState { inputs, outputs })
    }
}

impl Note {
    /// A note with nothing but a text.
    pub(crate) fn plain(title: String, body: String) -> Self {
        let color = "yellow".to_owned();
        let (labels, tasks) = (BTreeMap::new(), Vec::new());
        Note { title, body, color, place: None, labels, tasks, pin: None, attachment: None, approval: None }
    }

    pub(crate) fn written(&self, board: &Board) -> Result<NoteOutput> {
        let written = NoteOutput {
            id: self.title.clone(),
            title: self.title.clone(),
            body: self.body.clone(),
            color: self.color.clone(),
            place: self.place.unwrap_or(0),
            labels: self.labels.clone(),
            tasks: self.tasks.clone(),
            size: self.body.chars().count() as u64,
            key: Secret::new(self.pin.as_ref().map_or(String::new(), |pin| format!("key-{}", pin.expose()))),
        };
        board.put(KIND, &self.title, &written)?;
        Ok(written)
    }

    /// Copies the attachment. The note hangs by then, so it is told even if that fails.
    fn attach(&self, made: &NoteOutput) -> Result<()> {
        let Some(attachment) = &self.attachment else { return Ok(()) };
        fs::read(attachment).map(drop).map_err(|error| {
            Error::invalid(format!("cannot attach `{attachment}`: {error}"))
                .at("attachment")
                .with_partial(made)
        })
    }

    /// The note, once it is approved; until then, it is made and not ready.
    fn approved(&self, context: &Context<Board>, made: NoteOutput) -> Result<NoteOutput> {
        match &self.approval {
            Some(approval) if !fs::exists(approval)? => {
                context.report_progress("waiting for approval");
                let soon = Some(Duration::from_millis(50));
                Err(Error::pending(soon, Value::NULL, "the note waits for approval").with_unready(&made))
            }
            _ => Ok(made),
        }
    }
}
