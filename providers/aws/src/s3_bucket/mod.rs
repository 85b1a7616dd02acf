//! `awsn_s3_bucket`: a bucket for objects, with what is usually set up along with one.

mod aspects;
mod emptying;

use trueup_provider::{
    Context, Converge, Current, Error, FieldType, Inputs, NameRules, Outputs, Ownership, Recovery, Result,
    Sightings, Traits,
};

use crate::client::{BucketCall, Element};
use crate::failure::{cannot, cannot_see, if_found};
use crate::policy;
use crate::settings::Aws;
use crate::tags::{self, Tags};

/// The region where buckets are made that name none.
const REGION_WITHOUT_NAME: &str = "us-east-1";

/// A bucket for objects.
#[derive(Inputs, Clone)]
pub struct Bucket {
    /// Its name, unique in the world. If it is left out, one is made of stack, stage and address. Another name makes
    /// another bucket.
    #[trueup(identity, replace, pattern = "^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")]
    bucket: Option<String>,
    /// Whether older versions of objects are kept.
    #[trueup(default)]
    versioning: bool,
    /// How objects are encrypted that say nothing of it.
    #[trueup(default = Encryption::S3)]
    encryption: Encryption,
    /// For `aws:kms`: the key, if not the account's own.
    kms_key: Option<String>,
    /// Whether everything is refused that would make objects public.
    #[trueup(default = true)]
    block_public_access: bool,
    /// Who else may use the bucket, as a policy document.
    policy: Option<String>,
    /// Whether deleting the bucket deletes what is in it too.
    #[trueup(default)]
    force_destroy: bool,
    /// Tags.
    #[trueup(default)]
    tags: Tags,
}

/// How objects are encrypted that say nothing of it.
#[derive(FieldType, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encryption {
    /// With keys that S3 keeps.
    #[trueup(rename = "AES256")]
    S3,
    /// With a key of the key management service.
    #[trueup(rename = "aws:kms")]
    Kms,
}

/// A bucket as it is.
#[derive(Outputs, Clone)]
pub struct BucketOutput {
    /// Its name.
    #[trueup(identity, stable)]
    bucket: String,
    /// Its ARN.
    #[trueup(stable)]
    arn: String,
    /// The host name under which it is reached.
    #[trueup(stable)]
    domain_name: String,
    /// Whether older versions of objects are kept.
    #[trueup(mirrors = "versioning")]
    versioning: bool,
    /// How objects are encrypted that say nothing of it.
    #[trueup(mirrors = "encryption")]
    encryption: Encryption,
    /// The key, if it is not the account's own.
    #[trueup(mirrors = "kms_key")]
    kms_key: Option<String>,
    /// Whether everything is refused that would make objects public.
    #[trueup(mirrors = "block_public_access")]
    block_public_access: bool,
    /// Who else may use it.
    #[trueup(mirrors = "policy")]
    policy: Option<String>,
    /// All its tags, those by which it is recognised included.
    tags_all: Tags,
}

impl Bucket {
    fn name(&self, context: &Context<Aws>) -> String {
        self.bucket.clone().unwrap_or_else(|| context.physical_name())
    }

    /// The bucket of this name as it is.
    async fn see(&self, aws: &Aws, name: &str) -> Result<BucketOutput> {
        let what = format!("the bucket `{name}`");
        let head = aws.s3.send(BucketCall::head(name)).await;
        head.map_err(cannot_see(&what)).map_err(|error| {
            // The answer to this call says nothing but *no*.
            error.hint("a bucket of this name may belong to someone else: names are unique in the world")
        })?;
        let (encryption, kms_key) = aspects::encryption(aws, name).await?;
        Ok(BucketOutput {
            bucket: name.to_owned(),
            arn: format!("arn:{}:s3:::{name}", aws.partition()),
            domain_name: format!("{name}.s3.{}.amazonaws.com", aws.region),
            versioning: aspects::versioning(aws, name).await?,
            encryption,
            kms_key,
            block_public_access: aspects::block_public_access(aws, name).await?,
            policy: policy::as_written(self.policy.as_ref(), aspects::policy(aws, name).await?),
            tags_all: aspects::tags(aws, name).await?,
        })
    }

    async fn create(&self, context: &Context<Aws>, name: &str) -> Result<()> {
        let aws = context.config();
        let mut configuration = Element::new("CreateBucketConfiguration");
        if aws.region != REGION_WITHOUT_NAME {
            configuration = configuration.with_text("LocationConstraint", &aws.region);
        }
        let tags = aspects::tag_elements("Tags", tags::wanted(context, &self.tags));
        let call = BucketCall::put(name, "", &configuration.with(tags));
        aws.s3.send(call).await.map_err(cannot(format!("create the bucket `{name}`")))
    }

    /// Whose a bucket is that was found. Some take no tags along with the request that creates a bucket; then a name
    /// that is made of this resource's identity tells as much.
    fn recognise(&self, context: &Context<Aws>, seen: &mut BucketOutput) -> Ownership {
        if self.bucket.is_none() && seen.tags_all.is_empty() {
            return Ownership::Owned { generation: None };
        }
        tags::recognise(context, &mut seen.tags_all)
    }

    fn check(&self) -> Result<()> {
        if self.kms_key.is_some() && self.encryption != Encryption::Kms {
            return Err(Error::invalid("a key goes with `encryption = \"aws:kms\"` alone").at("kms_key"));
        }
        self.policy.as_ref().map_or(Ok(()), |document| policy::check("policy", document))
    }
}

impl Converge for Bucket {
    type Output = BucketOutput;
    type Config = Aws;

    fn traits() -> Traits {
        Traits { name_rules: NameRules::new(63), ..Traits::default() }
    }

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn reconcile(&self, context: &Context<Aws>, current: &Current<Self>) -> Result<BucketOutput> {
        self.check()?;
        let aws = context.config();
        let name = current.output.as_ref().map_or_else(|| self.name(context), |output| output.bucket.clone());
        let mut seen = if_found(self.see(aws, &name).await)?;
        match &mut seen {
            None => self.create(context, &name).await?,
            Some(seen) if current.output.is_none() => {
                if self.recognise(context, seen) == Ownership::Unowned {
                    return Err(Error::already_exists(format!("the bucket `{name}` exists already")));
                }
            }
            Some(_) => {}
        }
        let seen = match seen {
            Some(seen) => seen,
            None => self.see(aws, &name).await?,
        };
        aspects::synchronise(self, context, &seen).await.map_err(|error| error.with_partial(&seen))?;
        self.see(aws, &name).await
    }

    async fn read(
        &self,
        context: &Context<Aws>,
        prior: Option<&BucketOutput>,
    ) -> Result<Sightings<BucketOutput>> {
        let name = prior.map_or_else(|| self.name(context), |prior| prior.bucket.clone());
        let mut seen = self.see(context.config(), &name).await?;
        if prior.is_some() {
            return Ok(Sightings::owned(seen));
        }
        let ownership = self.recognise(context, &mut seen);
        Ok(Sightings::recognised(seen, ownership))
    }

    async fn delete(&self, context: &Context<Aws>, output: &BucketOutput) -> Result<()> {
        let (aws, name) = (context.config(), &output.bucket);
        let mut seen = self.see(aws, name).await?;
        if self.recognise(context, &mut seen) == Ownership::Unowned {
            return Err(tags::not_ours(&format!("the bucket `{name}`")));
        }
        if self.force_destroy {
            emptying::empty(aws, name).await?;
        }
        let deleted = aws.s3.send(BucketCall::delete(name, "")).await;
        deleted.map_err(cannot(format!("delete the bucket `{name}`")))
    }

    async fn import(&self, context: &Context<Aws>, id: &str) -> Result<BucketOutput> {
        let name = id.rsplit(':').next().unwrap_or(id);
        let nothing = Bucket {
            bucket: Some(name.to_owned()),
            versioning: false,
            encryption: Encryption::S3,
            kms_key: None,
            block_public_access: true,
            policy: None,
            force_destroy: false,
            tags: Tags::new(),
        };
        nothing.see(context.config(), name).await
    }
}
