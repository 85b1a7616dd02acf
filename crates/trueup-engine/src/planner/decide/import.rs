//! Objects that the program wants adopted by their ids (ADOPT-7).

use trueup_core::{Failure, FailureClass, Type, Value, convert};
use trueup_provider::{CallContext, ImportRequest, Imported, State};

use super::resource::Case;
use crate::saved::{ImportForm, QuestionKind};

impl Case<'_> {
    /// The object that the program wants adopted by its id (ADOPT-7).
    pub(super) async fn imported(&self) -> Result<Option<State>, Failure> {
        let node = &self.draft.nodes[self.at];
        let declared = self.sources.program.imports.iter().find(|import| import.to == node.address);
        let Some(declared) = declared else { return Ok(None) };
        let invalid = |message: String| Failure::new(FailureClass::Invalid, message);
        let draft = self.draft;
        let evaluate = || declared.id.evaluate(&draft.known()).value;
        let given = self.sources.calls.answered(&draft.answers, evaluate).await;
        if given.contains_secret() {
            // Providers make addresses, names and messages of it.
            let message = "the id of an import must not be secret: it is shown and recorded";
            return Err(invalid(message.to_owned()).hint("use `nonsensitive` if it is not secret"));
        }
        let identity = Some(&given).filter(|given| given.as_entries().is_some() && given.is_wholly_known());
        // A number is the text that says the same.
        let text = convert(&given, &Type::String).unwrap_or(Value::NULL);
        let id = match (text.as_str(), identity) {
            (Some(""), _) => return Err(invalid("the id of an import must not be empty".to_owned())),
            (None, None) => {
                let message = "what to import by must be an id or an identity that is known now";
                return Err(invalid(message.to_owned()));
            }
            (id, _) => id.unwrap_or_default(),
        };
        let Some(config) = &node.config else {
            return Err(invalid(
                "nothing can be imported before the provider's configuration is known".to_owned(),
            ));
        };
        let context = self.sources.context(&node.address, None);
        let call = self.sources.call(node);
        let import = async {
            let import = async |context: &CallContext| {
                let desired = self.desired;
                self.handler.import(ImportRequest { config, id, identity, desired, context }).await
            };
            let found = self.sources.calls.retried(call, &context, import).await?;
            Ok(found.into_iter().map(ImportForm::from).collect::<Vec<_>>())
        };
        let found = self.sources.observed(QuestionKind::Import, &node.address, &[&given], import).await?;
        let own = found
            .into_iter()
            .map(Imported::from)
            .find(|imported| imported.type_name == node.address.type_name());
        let own =
            own.ok_or_else(|| invalid(format!("{given} is not of the type {}", node.address.type_name())))?;
        let record = node.record.as_ref().map(|(record, _)| &**record);
        let inputs = own.state.inputs.as_ref().map(|inputs| &inputs.effective);
        self.refuse_held(&own.state, inputs, record).await?;
        Ok(Some(own.state))
    }
}
