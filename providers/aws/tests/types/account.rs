//! What there is of one stack in an account, by the names of its objects; and the end of all of it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::raw::{Raw, strings, texts};

/// An account, seen by the names of one stack. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Account {
    /// What the names of all objects begin with.
    prefix: String,
    raw: Raw,
}

/// What Lambda tells of a function.
pub(crate) struct SeenFunction {
    pub(crate) name: String,
    pub(crate) timeout: u64,
    pub(crate) environment: BTreeMap<String, String>,
}

impl Account {
    pub(crate) fn new(prefix: &str, raw: Raw) -> Self {
        Account { prefix: prefix.to_owned(), raw }
    }

    fn own(&self, names: Vec<String>) -> Vec<String> {
        names.into_iter().filter(|name| name.starts_with(&self.prefix)).collect()
    }

    /// The items of all pages of an operation of a service that speaks JSON.
    async fn pages(&self, target: &str, input: Value, list: &str, (token, next): (&str, &str)) -> Vec<Value> {
        let (mut input, mut all) = (input, Vec::new());
        loop {
            let page = self.raw.json(target, input.clone()).await;
            all.extend(page[list].as_array().cloned().unwrap_or_default());
            if !page[next].is_string() {
                return all;
            }
            input[token] = page[next].clone();
        }
    }

    /// The items of all pages of a list of Lambda or API Gateway.
    async fn listed(
        &self,
        (service, path): (&str, &str),
        list: &str,
        (token, next): (&str, &str),
    ) -> Vec<Value> {
        let (mut query, mut all) = (String::new(), Vec::new());
        loop {
            let page = self.raw.rest(service, "GET", &format!("{path}{query}"), None).await;
            all.extend(page[list].as_array().cloned().unwrap_or_default());
            let Some(marker) = page[next].as_str() else { return all };
            query = format!("?{token}={marker}");
        }
    }

    async fn gateway(&self, path: &str) -> Vec<Value> {
        self.listed(("apigateway", path), "items", ("nextToken", "nextToken")).await
    }

    /// The addresses of queues.
    pub(crate) async fn queues(&self) -> Vec<String> {
        let input = json!({ "QueueNamePrefix": self.prefix, "MaxResults": 1000 });
        let listed = self.pages("AmazonSQS.ListQueues", input, "QueueUrls", ("NextToken", "NextToken")).await;
        strings(&Value::from(listed), None)
    }

    pub(crate) async fn buckets(&self) -> Vec<String> {
        self.own(texts(&self.raw.s3("GET", "/", "").await, "Name"))
    }

    pub(crate) async fn tables(&self) -> Vec<String> {
        let token = ("ExclusiveStartTableName", "LastEvaluatedTableName");
        let listed = self.pages("DynamoDB_20120810.ListTables", json!({}), "TableNames", token).await;
        self.own(strings(&Value::from(listed), None))
    }

    /// All elements of this name in all pages of a list of IAM.
    async fn iam(&self, action: &str, fields: &[(&str, &str)], tag: &str) -> Vec<String> {
        let (mut all, mut marker) = (Vec::new(), None::<String>);
        loop {
            let next = marker.as_deref().map(|marker| ("Marker", marker));
            let fields: Vec<_> = fields.iter().copied().chain(next).collect();
            let page = self.raw.iam(action, &fields).await;
            all.extend(texts(&page, tag));
            marker = texts(&page, "Marker").pop();
            if marker.is_none() {
                return all;
            }
        }
    }

    pub(crate) async fn roles(&self) -> Vec<String> {
        self.own(self.iam("ListRoles", &[], "RoleName").await)
    }

    /// The ARNs of policies.
    pub(crate) async fn policies(&self) -> Vec<String> {
        let arns = self.iam("ListPolicies", &[("Scope", "Local")], "Arn").await;
        let is_own = |arn: &String| arn.rsplit('/').next().unwrap().starts_with(&self.prefix);
        arns.into_iter().filter(is_own).collect()
    }

    pub(crate) async fn log_groups(&self) -> Vec<String> {
        let input = json!({ "logGroupNamePrefix": self.prefix });
        let token = ("nextToken", "nextToken");
        let listed = self.pages("Logs_20140328.DescribeLogGroups", input, "logGroups", token).await;
        strings(&Value::from(listed), Some("logGroupName"))
    }

    pub(crate) async fn functions(&self) -> Vec<SeenFunction> {
        let place = ("lambda", "/2015-03-31/functions");
        let listed = self.listed(place, "Functions", ("Marker", "NextMarker")).await;
        let seen = listed.into_iter().map(|function| SeenFunction {
            name: function["FunctionName"].as_str().unwrap().to_owned(),
            timeout: function["Timeout"].as_u64().unwrap(),
            environment: serde_json::from_value(function["Environment"]["Variables"].clone())
                .unwrap_or_default(),
        });
        seen.filter(|function| function.name.starts_with(&self.prefix)).collect()
    }

    /// The ids of APIs.
    pub(crate) async fn apis(&self) -> Vec<String> {
        let listed = self.gateway("/v2/apis").await.into_iter();
        let own = listed.filter(|api| api["name"].as_str().unwrap().starts_with(&self.prefix));
        strings(&own.collect(), Some("apiId"))
    }

    /// The number of integrations, routes or stages of an API.
    pub(crate) async fn parts(&self, api: &str, kind: &str) -> usize {
        self.gateway(&format!("/v2/apis/{api}/{kind}")).await.len()
    }

    /// The number of aliases of a function.
    pub(crate) async fn aliases(&self, function: &str) -> usize {
        let path = format!("/2015-03-31/functions/{function}/aliases");
        self.listed(("lambda", &path), "Aliases", ("Marker", "NextMarker")).await.len()
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
            count += 1 + self.aliases(&function.name).await;
        }
        for api in self.apis().await {
            count += 1;
            for kind in ["integrations", "routes", "stages"] {
                count += self.parts(&api, kind).await;
            }
        }
        count
    }

    /// Deletes all of it, whoever made it.
    pub(crate) async fn sweep(&self) {
        let raw = &self.raw;
        for api in self.apis().await {
            raw.rest("apigateway", "DELETE", &format!("/v2/apis/{api}"), None).await;
        }
        for function in self.functions().await {
            let path = format!("/2015-03-31/functions/{}", function.name);
            raw.rest("lambda", "DELETE", &path, None).await;
        }
        for queue in self.queues().await {
            raw.json("AmazonSQS.DeleteQueue", json!({ "QueueUrl": queue })).await;
        }
        for bucket in self.buckets().await {
            self.sweep_bucket(&bucket).await;
        }
        for table in self.tables().await {
            raw.json("DynamoDB_20120810.DeleteTable", json!({ "TableName": table })).await;
        }
        for role in self.roles().await {
            self.sweep_role(&role).await;
        }
        for policy in self.policies().await {
            self.sweep_policy(&policy).await;
        }
        for group in self.log_groups().await {
            raw.json("Logs_20140328.DeleteLogGroup", json!({ "logGroupName": group })).await;
        }
    }

    async fn sweep_bucket(&self, bucket: &str) {
        let listed = self.raw.s3("GET", &format!("/{bucket}?versions"), "").await;
        // Keys and versions come in pairs, of objects and of markers.
        for (key, version) in texts(&listed, "Key").iter().zip(texts(&listed, "VersionId")) {
            self.raw.s3("DELETE", &format!("/{bucket}/{key}?versionId={version}"), "").await;
        }
        self.raw.s3("DELETE", &format!("/{bucket}"), "").await;
    }

    async fn sweep_role(&self, role: &str) {
        let name = ("RoleName", role);
        for policy in self.iam("ListRolePolicies", &[name], "member").await {
            self.raw.iam("DeleteRolePolicy", &[name, ("PolicyName", &policy)]).await;
        }
        for policy in self.iam("ListAttachedRolePolicies", &[name], "PolicyArn").await {
            self.raw.iam("DetachRolePolicy", &[name, ("PolicyArn", &policy)]).await;
        }
        self.raw.iam("DeleteRole", &[name]).await;
    }

    async fn sweep_policy(&self, arn: &str) {
        let name = ("PolicyArn", arn);
        for version in self.iam("ListPolicyVersions", &[name], "member").await {
            if texts(&version, "IsDefaultVersion") != ["true"] {
                let id = texts(&version, "VersionId").remove(0);
                self.raw.iam("DeletePolicyVersion", &[name, ("VersionId", &id)]).await;
            }
        }
        self.raw.iam("DeletePolicy", &[name]).await;
    }
}
