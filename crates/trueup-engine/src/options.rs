//! What a run is told.

use std::sync::Arc;
use std::time::Duration;

use smol_str::SmolStr;
use trueup_core::AddressRange;
use trueup_program::RetrySettings;
use trueup_state::Snapshot;

/// What planning is told.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// The stage.
    pub stage: SmolStr,
    /// Whether recorded objects are looked at (DRIFT-1).
    pub drift: bool,
    /// Whether what is unchanged is updated all the same (PLAN-7).
    pub force: bool,
    /// Whether objects of someone else are taken over (ADOPT-2).
    pub adopt: bool,
    /// The resources the run is about, with their upstream; empty for all (TARGET-1).
    pub targets: Vec<AddressRange>,
    /// Resources that are left out, with their dependents.
    pub excludes: Vec<AddressRange>,
    /// Resources to replace whatever their plan says.
    pub replace: Vec<AddressRange>,
    /// How many operations run at a time (APPLY-2).
    pub parallelism: usize,
    /// How failed operations are repeated, where neither resource nor type says.
    pub retry: RetrySettings,
    /// How long one operation may take.
    pub timeout: Duration,
    /// Records to plan from in place of those in the store. Such a plan answers what would be done; it is never carried out.
    pub assumed: Option<Arc<Snapshot>>,
}

impl PlanOptions {
    /// The defaults, for this stage.
    pub fn new(stage: impl Into<SmolStr>) -> Self {
        PlanOptions {
            stage: stage.into(),
            drift: true,
            force: false,
            adopt: false,
            targets: Vec::new(),
            excludes: Vec::new(),
            replace: Vec::new(),
            parallelism: 10,
            retry: RetrySettings::default(),
            timeout: Duration::from_secs(20 * 60),
            assumed: None,
        }
    }
}

/// What a deploy or destroy is told.
#[derive(Clone, Debug)]
pub struct DeployOptions {
    /// What its plan is told.
    pub plan: PlanOptions,
    /// Whether only the plan is made (PLAN-17).
    pub dry_run: bool,
    /// Whether the first failure keeps anything new from starting (APPLY-5).
    pub fail_fast: bool,
    /// Who runs it, for those who wait.
    pub holder: Holder,
    /// How it was started, for its history.
    pub origin: RunOrigin,
    /// How long the lease lasts without renewal.
    pub lease_term: Duration,
    /// Whether to wait while someone else holds the lease (STATE-4).
    pub wait: bool,
}

/// How a run was started. Whoever fills it in leaves secrets out: the history is for everyone who has the store.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunOrigin {
    /// The command, as it can be typed again; empty if there is none.
    pub command: String,
    /// The job of continuous integration that it is part of.
    pub ci_job: Option<CiJob>,
}

/// A job of continuous integration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CiJob {
    /// The service, such as `GitHub Actions`.
    pub service: String,
    /// Where the job can be looked at, or its name.
    pub job: String,
    /// Who set it off, if the service says so.
    pub actor: Option<String>,
}

/// Who runs something.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Holder {
    /// Who started it.
    pub user: String,
    /// Where it runs.
    pub host: String,
}

impl DeployOptions {
    /// The defaults, for this stage.
    pub fn new(stage: impl Into<SmolStr>) -> Self {
        DeployOptions {
            plan: PlanOptions::new(stage),
            dry_run: false,
            fail_fast: false,
            holder: Holder::default(),
            origin: RunOrigin::default(),
            lease_term: Duration::from_secs(60),
            wait: true,
        }
    }
}
