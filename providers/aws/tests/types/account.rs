//! What there is of one stack in an account, by the names of its objects; and the end of all of it.

use std::collections::BTreeMap;

use aws_sdk_apigatewayv2::types::Api;

/// An account, seen by the names of one stack. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Account {
    /// What the names of all objects begin with.
    prefix: String,
    sqs: aws_sdk_sqs::Client,
    s3: aws_sdk_s3::Client,
    dynamodb: aws_sdk_dynamodb::Client,
    iam: aws_sdk_iam::Client,
    logs: aws_sdk_cloudwatchlogs::Client,
    lambda: aws_sdk_lambda::Client,
    gateway: aws_sdk_apigatewayv2::Client,
}

/// What Lambda tells of a function.
pub(crate) struct SeenFunction {
    pub(crate) name: String,
    pub(crate) timeout: i32,
    pub(crate) environment: BTreeMap<String, String>,
}

impl Account {
    pub(crate) fn new(prefix: &str, sdk: &aws_config::SdkConfig, s3: aws_sdk_s3::Client) -> Self {
        Account {
            prefix: prefix.to_owned(),
            sqs: aws_sdk_sqs::Client::new(sdk),
            s3,
            dynamodb: aws_sdk_dynamodb::Client::new(sdk),
            iam: aws_sdk_iam::Client::new(sdk),
            logs: aws_sdk_cloudwatchlogs::Client::new(sdk),
            lambda: aws_sdk_lambda::Client::new(sdk),
            gateway: aws_sdk_apigatewayv2::Client::new(sdk),
        }
    }

    fn is_own(&self, name: &str) -> bool {
        name.starts_with(&self.prefix)
    }

    /// The addresses of queues.
    pub(crate) async fn queues(&self) -> Vec<String> {
        let listing = self.sqs.list_queues().queue_name_prefix(&self.prefix).max_results(1000);
        listing.into_paginator().items().send().collect::<Result<_, _>>().await.unwrap()
    }

    pub(crate) async fn buckets(&self) -> Vec<String> {
        let listed = self.s3.list_buckets().send().await.unwrap().buckets.unwrap_or_default();
        listed.into_iter().filter_map(|it| it.name).filter(|name| self.is_own(name)).collect()
    }

    pub(crate) async fn tables(&self) -> Vec<String> {
        let listing = self.dynamodb.list_tables().into_paginator().items().send();
        let listed: Vec<String> = listing.collect::<Result<_, _>>().await.unwrap();
        listed.into_iter().filter(|name| self.is_own(name)).collect()
    }

    pub(crate) async fn roles(&self) -> Vec<String> {
        let listing = self.iam.list_roles().into_paginator().items().send();
        let listed: Vec<_> = listing.collect::<Result<_, _>>().await.unwrap();
        listed.into_iter().map(|role| role.role_name).filter(|name| self.is_own(name)).collect()
    }

    /// The ARNs of policies.
    pub(crate) async fn policies(&self) -> Vec<String> {
        let listing = self.iam.list_policies().scope(aws_sdk_iam::types::PolicyScopeType::Local);
        let listed: Vec<_> = listing.into_paginator().items().send().collect::<Result<_, _>>().await.unwrap();
        let own = listed.into_iter().filter(|it| it.policy_name().is_some_and(|name| self.is_own(name)));
        own.filter_map(|policy| policy.arn).collect()
    }

    pub(crate) async fn log_groups(&self) -> Vec<String> {
        let listing = self.logs.describe_log_groups().log_group_name_prefix(&self.prefix);
        let listed: Vec<_> = listing.into_paginator().items().send().collect::<Result<_, _>>().await.unwrap();
        listed.into_iter().filter_map(|group| group.log_group_name).collect()
    }

    pub(crate) async fn functions(&self) -> Vec<SeenFunction> {
        let listing = self.lambda.list_functions().into_paginator().items().send();
        let listed: Vec<_> = listing.collect::<Result<_, _>>().await.unwrap();
        let own = listed.into_iter().filter(|it| it.function_name().is_some_and(|name| self.is_own(name)));
        let seen = own.map(|function| SeenFunction {
            name: function.function_name.unwrap(),
            timeout: function.timeout.unwrap(),
            environment: function
                .environment
                .and_then(|it| it.variables)
                .unwrap_or_default()
                .into_iter()
                .collect(),
        });
        seen.collect()
    }

    /// The ids of APIs.
    pub(crate) async fn apis(&self) -> Vec<String> {
        let mut listed: Vec<Api> = Vec::new();
        let mut next = None;
        loop {
            let page = self.gateway.get_apis().set_next_token(next).send().await.unwrap();
            listed.extend(page.items.unwrap_or_default());
            next = page.next_token;
            if next.is_none() {
                break;
            }
        }
        let own = listed.into_iter().filter(|it| it.name().is_some_and(|name| self.is_own(name)));
        own.filter_map(|api| api.api_id).collect()
    }

    /// How many objects of all types there are.
    pub(crate) async fn census(&self) -> usize {
        let mut count = self.queues().await.len()
            + self.buckets().await.len()
            + self.tables().await.len()
            + self.roles().await.len()
            + self.policies().await.len()
            + self.log_groups().await.len();
        for function in self.functions().await {
            let aliases = self.lambda.list_aliases().function_name(function.name).send().await.unwrap();
            count += 1 + aliases.aliases().len();
        }
        for api in self.apis().await {
            count += 1;
            count += self.gateway.get_integrations().api_id(&api).send().await.unwrap().items().len();
            count += self.gateway.get_routes().api_id(&api).send().await.unwrap().items().len();
            count += self.gateway.get_stages().api_id(&api).send().await.unwrap().items().len();
        }
        count
    }

    /// Deletes all of it, whoever made it.
    pub(crate) async fn sweep(&self) {
        for api in self.apis().await {
            self.gateway.delete_api().api_id(api).send().await.unwrap();
        }
        for function in self.functions().await {
            self.lambda.delete_function().function_name(function.name).send().await.unwrap();
        }
        for queue in self.queues().await {
            self.sqs.delete_queue().queue_url(queue).send().await.unwrap();
        }
        for bucket in self.buckets().await {
            self.sweep_bucket(&bucket).await;
        }
        for table in self.tables().await {
            self.dynamodb.delete_table().table_name(table).send().await.unwrap();
        }
        for role in self.roles().await {
            self.sweep_role(&role).await;
        }
        for policy in self.policies().await {
            self.sweep_policy(&policy).await;
        }
        for group in self.log_groups().await {
            self.logs.delete_log_group().log_group_name(group).send().await.unwrap();
        }
    }

    async fn sweep_bucket(&self, bucket: &str) {
        let listed = self.s3.list_object_versions().bucket(bucket).send().await.unwrap();
        let versions = listed.versions().iter().map(|it| (it.key(), it.version_id()));
        let markers = listed.delete_markers().iter().map(|it| (it.key(), it.version_id()));
        for (key, version) in versions.chain(markers) {
            let delete = self.s3.delete_object().bucket(bucket).key(key.unwrap());
            delete.set_version_id(version.map(str::to_owned)).send().await.unwrap();
        }
        self.s3.delete_bucket().bucket(bucket).send().await.unwrap();
    }

    async fn sweep_role(&self, role: &str) {
        for policy in self.iam.list_role_policies().role_name(role).send().await.unwrap().policy_names {
            self.iam.delete_role_policy().role_name(role).policy_name(policy).send().await.unwrap();
        }
        let attached = self.iam.list_attached_role_policies().role_name(role).send().await.unwrap();
        for policy in attached.attached_policies() {
            let detach = self.iam.detach_role_policy().role_name(role);
            detach.policy_arn(policy.policy_arn().unwrap()).send().await.unwrap();
        }
        self.iam.delete_role().role_name(role).send().await.unwrap();
    }

    async fn sweep_policy(&self, arn: &str) {
        let versions = self.iam.list_policy_versions().policy_arn(arn).send().await.unwrap();
        for version in versions.versions().iter().filter(|version| !version.is_default_version()) {
            let delete = self.iam.delete_policy_version().policy_arn(arn);
            delete.version_id(version.version_id().unwrap()).send().await.unwrap();
        }
        self.iam.delete_policy().policy_arn(arn).send().await.unwrap();
    }
}
