//! `awsn_sqs_queue`: a queue for messages.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;
use trueup_provider::{
    Context, Crud, Error, FieldType, Found, Inputs, ModifyPlan, NameRules, Outputs, PlanHook, Prior,
    Recovery, Result, Sightings, Traits,
};

use crate::failure::{cannot, cannot_see};
use crate::policy;
use crate::settings::Aws;
use crate::tags::{self, Tags};

/// What the name of a queue that keeps order ends in.
const FIFO: &str = ".fifo";

/// A queue for messages.
#[derive(Inputs, Clone)]
pub struct Queue {
    /// Its name; that of a `fifo_queue` ends in `.fifo`. If it is left out, one is made of stack, stage and address.
    /// Another name makes another queue.
    #[trueup(identity, replace, pattern = "^[A-Za-z0-9_-]{1,75}(\\.fifo)?$")]
    name: Option<String>,
    /// Whether messages are delivered once and in order.
    #[trueup(default, replace)]
    fifo_queue: bool,
    /// For a `fifo_queue`: whether messages of equal content are taken for one.
    #[trueup(default)]
    content_based_deduplication: bool,
    /// How long a received message is hidden from other readers.
    #[trueup(default = 30, range(min = 0, max = 43200))]
    visibility_timeout_seconds: u64,
    /// How long a message is kept.
    #[trueup(default = 345600, range(min = 60, max = 1209600))]
    message_retention_seconds: u64,
    /// How long a new message stays invisible.
    #[trueup(default = 0, range(min = 0, max = 900))]
    delay_seconds: u64,
    /// The largest message, in bytes.
    #[trueup(default = 262144, range(min = 1024, max = 1048576))]
    max_message_size: u64,
    /// How long a reader waits for a message.
    #[trueup(default = 0, range(min = 0, max = 20))]
    receive_wait_time_seconds: u64,
    /// Where messages go that cannot be handled.
    dead_letter: Option<DeadLetter>,
    /// Who else may use the queue, as a policy document.
    policy: Option<String>,
    /// Tags.
    #[trueup(default)]
    tags: Tags,
}

/// Where messages go that cannot be handled.
#[derive(FieldType, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// The ARN of the queue that gets them.
    target_arn: String,
    /// After how many attempts.
    #[trueup(range(min = 1, max = 1000))]
    max_receive_count: u64,
}

/// A queue as it is.
#[derive(Outputs, Clone, Default)]
pub struct QueueOutput {
    /// Its name.
    #[trueup(identity, stable)]
    name: String,
    /// Where it is sent to and read from.
    #[trueup(stable)]
    url: String,
    /// Its ARN.
    #[trueup(stable)]
    arn: String,
    /// Whether it keeps order.
    #[trueup(mirrors = "fifo_queue")]
    fifo_queue: bool,
    /// Whether messages of equal content are taken for one.
    #[trueup(mirrors = "content_based_deduplication")]
    content_based_deduplication: bool,
    /// How long a received message is hidden.
    #[trueup(mirrors = "visibility_timeout_seconds")]
    visibility_timeout_seconds: u64,
    /// How long a message is kept.
    #[trueup(mirrors = "message_retention_seconds")]
    message_retention_seconds: u64,
    /// How long a new message stays invisible.
    #[trueup(mirrors = "delay_seconds")]
    delay_seconds: u64,
    /// The largest message, in bytes.
    #[trueup(mirrors = "max_message_size")]
    max_message_size: u64,
    /// How long a reader waits for a message.
    #[trueup(mirrors = "receive_wait_time_seconds")]
    receive_wait_time_seconds: u64,
    /// Where messages go that cannot be handled.
    #[trueup(mirrors = "dead_letter")]
    dead_letter: Option<DeadLetter>,
    /// Who else may use it.
    #[trueup(mirrors = "policy")]
    policy: Option<String>,
    /// All its tags, those by which it is recognised included.
    tags_all: Tags,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct QueueUrlAnswer {
    queue_url: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct AttributesAnswer {
    attributes: BTreeMap<String, String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct TagsAnswer {
    tags: Tags,
}

impl Queue {
    fn name(&self, context: &Context<Aws>) -> String {
        match &self.name {
            Some(name) => name.clone(),
            None if self.fifo_queue => format!("{}{FIFO}", context.physical_name()),
            None => context.physical_name(),
        }
    }

    /// The attributes that can be changed, absent ones as the empty text that takes them away.
    fn attributes(&self) -> BTreeMap<&'static str, String> {
        let redrive = self.dead_letter.as_ref().map_or(String::new(), |dead| {
            json!({ "deadLetterTargetArn": dead.target_arn, "maxReceiveCount": dead.max_receive_count })
                .to_string()
        });
        let mut attributes = BTreeMap::from([
            ("VisibilityTimeout", self.visibility_timeout_seconds.to_string()),
            ("MessageRetentionPeriod", self.message_retention_seconds.to_string()),
            ("DelaySeconds", self.delay_seconds.to_string()),
            ("MaximumMessageSize", self.max_message_size.to_string()),
            ("ReceiveMessageWaitTimeSeconds", self.receive_wait_time_seconds.to_string()),
            ("RedrivePolicy", redrive),
            ("Policy", self.policy.clone().unwrap_or_default()),
        ]);
        if self.fifo_queue {
            attributes.insert("ContentBasedDeduplication", self.content_based_deduplication.to_string());
        }
        attributes
    }

    /// The queue of this name as it is.
    async fn see(&self, aws: &Aws, name: &str) -> Result<QueueOutput> {
        let what = format!("the queue `{name}`");
        let found: QueueUrlAnswer =
            aws.sqs.call("GetQueueUrl", json!({ "QueueName": name })).await.map_err(cannot_see(&what))?;
        let url = found.queue_url;
        let asked = json!({ "QueueUrl": url, "AttributeNames": ["All"] });
        let AttributesAnswer { attributes: seen } =
            aws.sqs.call("GetQueueAttributes", asked).await.map_err(cannot_see(&what))?;
        let tagged: TagsAnswer =
            aws.sqs.call("ListQueueTags", json!({ "QueueUrl": url })).await.map_err(cannot_see(&what))?;
        let text = |attribute: &str| seen.get(attribute).filter(|text| !text.is_empty()).cloned();
        let number = |attribute| text(attribute).and_then(|text| text.parse().ok()).unwrap_or_default();
        let holds = |attribute| text(attribute).as_deref() == Some("true");
        Ok(QueueOutput {
            name: name.to_owned(),
            url,
            arn: text("QueueArn").unwrap_or_default(),
            fifo_queue: holds("FifoQueue"),
            content_based_deduplication: holds("ContentBasedDeduplication"),
            visibility_timeout_seconds: number("VisibilityTimeout"),
            message_retention_seconds: number("MessageRetentionPeriod"),
            delay_seconds: number("DelaySeconds"),
            max_message_size: number("MaximumMessageSize"),
            receive_wait_time_seconds: number("ReceiveMessageWaitTimeSeconds"),
            dead_letter: text("RedrivePolicy").as_deref().and_then(DeadLetter::parse),
            policy: policy::as_written(self.policy.as_ref(), text("Policy")),
            tags_all: tags::seen(tagged.tags),
        })
    }

    async fn tag(&self, context: &Context<Aws>, seen: &QueueOutput) -> Result<()> {
        let (sqs, url, what) = (&context.config().sqs, &seen.url, format!("the queue `{}`", seen.name));
        let set = |tags: Tags| sqs.send("TagQueue", json!({ "QueueUrl": url, "Tags": tags }));
        let remove = |keys: Vec<String>| sqs.send("UntagQueue", json!({ "QueueUrl": url, "TagKeys": keys }));
        tags::synchronise((context, &self.tags), &seen.tags_all, &what, set, remove).await
    }
}

impl DeadLetter {
    /// The queue of this ARN gets what could not be handled after so many attempts.
    pub fn after(max_receive_count: u64, target_arn: impl Into<String>) -> Self {
        DeadLetter { target_arn: target_arn.into(), max_receive_count }
    }

    fn parse(text: &str) -> Option<Self> {
        let parsed: serde_json::Value = serde_json::from_str(text).ok()?;
        let count = parsed.get("maxReceiveCount")?;
        // Some give the number as a text.
        let count = count.as_u64().or_else(|| count.as_str()?.parse().ok())?;
        let target_arn = parsed.get("deadLetterTargetArn")?.as_str()?.to_owned();
        Some(DeadLetter { target_arn, max_receive_count: count })
    }
}

impl From<&QueueOutput> for Queue {
    fn from(seen: &QueueOutput) -> Self {
        Queue {
            name: Some(seen.name.clone()),
            fifo_queue: seen.fifo_queue,
            content_based_deduplication: seen.content_based_deduplication,
            visibility_timeout_seconds: seen.visibility_timeout_seconds,
            message_retention_seconds: seen.message_retention_seconds,
            delay_seconds: seen.delay_seconds,
            max_message_size: seen.max_message_size,
            receive_wait_time_seconds: seen.receive_wait_time_seconds,
            dead_letter: seen.dead_letter.clone(),
            policy: seen.policy.clone(),
            tags: tags::written(&seen.tags_all),
        }
    }
}

impl Crud for Queue {
    type Output = QueueOutput;
    type Config = Aws;

    fn traits() -> Traits {
        Traits { name_rules: NameRules::new(80 - FIFO.len()), ..Traits::default() }
    }

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn validate_inputs(&self, _: &Context<Aws>) -> Result<()> {
        if let Some(name) = &self.name
            && name.ends_with(FIFO) != self.fifo_queue
        {
            let message = "the name of a queue ends in `.fifo` if it keeps order, and only then";
            return Err(Error::invalid(message).at("name"));
        }
        if self.content_based_deduplication && !self.fifo_queue {
            return Err(Error::invalid("only a `fifo_queue` takes equal messages for one")
                .at("content_based_deduplication"));
        }
        self.policy.as_ref().map_or(Ok(()), |document| policy::check("policy", document))
    }

    async fn create(&self, context: &Context<Aws>) -> Result<QueueOutput> {
        let (aws, name) = (context.config(), self.name(context));
        let mut attributes = self.attributes();
        attributes.retain(|_, value| !value.is_empty());
        if self.fifo_queue {
            attributes.insert("FifoQueue", "true".to_owned());
        }
        let tags = tags::wanted(context, &self.tags);
        // Only this operation writes `tags` with a small letter.
        let input = json!({ "QueueName": name, "Attributes": attributes, "tags": tags });
        let created = aws.sqs.send("CreateQueue", input).await;
        created.map_err(cannot(format!("create the queue `{name}`")))?;
        self.see(aws, &name).await
    }

    async fn read(&self, context: &Context<Aws>, prior: &QueueOutput) -> Result<QueueOutput> {
        self.see(context.config(), &prior.name).await
    }

    async fn update(&self, context: &Context<Aws>, prior: &Prior<Self>) -> Result<QueueOutput> {
        let (aws, name) = (context.config(), &prior.outputs.name);
        let seen = self.see(aws, name).await?;
        let input = json!({ "QueueUrl": seen.url, "Attributes": self.attributes() });
        let set = aws.sqs.send("SetQueueAttributes", input).await;
        set.map_err(cannot(format!("change the queue `{name}`")))?;
        self.tag(context, &seen).await?;
        self.see(aws, name).await
    }

    async fn delete(&self, context: &Context<Aws>, prior: &QueueOutput) -> Result<()> {
        let (aws, name) = (context.config(), &prior.name);
        let seen = self.see(aws, name).await?;
        tags::ensure_owned(context, &seen.tags_all, &format!("the queue `{name}`"))?;
        let deleted = aws.sqs.send("DeleteQueue", json!({ "QueueUrl": seen.url })).await;
        deleted.map_err(cannot(format!("delete the queue `{name}`")))
    }

    fn equivalent_input(field: &str, prior: &Self, current: &Self) -> bool {
        field == "policy" && policy::same_optional(prior.policy.as_ref(), current.policy.as_ref())
    }

    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        tags::update_if_unmarked(request.prior.as_ref().map(|prior| &prior.outputs.tags_all), plan);
        Ok(())
    }

    async fn lookup(&self, context: &Context<Aws>) -> Result<Sightings<Found<Self, QueueOutput>>> {
        let mut outputs = self.see(context.config(), &self.name(context)).await?;
        let ownership = tags::recognise(context, &mut outputs.tags_all);
        // Only a name that the program gave is an input.
        let inputs = Queue { name: self.name.clone(), ..Queue::from(&outputs) };
        Ok(Sightings::recognised(Found { inputs, outputs }, ownership))
    }

    async fn import(&self, context: &Context<Aws>, id: &str) -> Result<Found<Self, QueueOutput>> {
        // The name, the address that ends in it, or the ARN that does.
        let name = id.rsplit(['/', ':']).next().unwrap_or(id);
        let nothing = Queue::from(&QueueOutput { name: name.to_owned(), ..QueueOutput::default() });
        let outputs = nothing.see(context.config(), name).await?;
        Ok(Found { inputs: Queue::from(&outputs), outputs })
    }
}
