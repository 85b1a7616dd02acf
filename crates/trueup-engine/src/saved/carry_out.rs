//! Making a plan to save, and carrying a saved one out.

use std::collections::BTreeSet;
use std::time::SystemTime;

use trueup_core::{Diagnostic, Diagnostics};
use trueup_program::Program;
use trueup_provider::provider_named;
use trueup_state::{Scope, Snapshot};

use super::{
    About, Observations, PLAN_AGAIN, Premise, PremiseKind, Reach, SavedOptions, SavedPlan, changed_premises,
    differences,
};
use crate::draft::{Draft, ExecutablePlan};
use crate::executor::{Cancellation, RunReport};
use crate::options::{DeployOptions, PlanOptions};
use crate::plan::Plan;
use crate::planner::{self, Trace};
use crate::reconciler::{EngineError, Execution, Reconciler, RunTerms};
use crate::run_kind::RunKind;

/// What keeps plans to a saved one.
pub(crate) struct Following {
    pub(crate) observations: Observations,
    /// `None` while the plan is yet to be saved.
    pub(crate) about: Option<About>,
}

impl Reconciler {
    /// The same, keeping what is learned by looking, for a plan that is to be saved. All its plans and previews must be
    /// made for that one.
    #[must_use]
    pub fn recording(self) -> Self {
        self.with_following(Following { observations: Observations::default(), about: None })
    }

    /// The same, with plans and previews made from what was learned for a saved plan.
    #[must_use]
    pub fn following(self, saved: &SavedPlan) -> Self {
        let observations = Observations::closed(saved.observations.iter().cloned());
        self.with_following(Following { observations, about: Some(saved.about()) })
    }

    /// What a deploy or destroy would do, to be carried out later. `premises` tells what the program followed from, when
    /// the plan is made.
    pub async fn plan_to_save(
        &self,
        program: &Program,
        options: &PlanOptions,
        kind: RunKind,
        made_at: SystemTime,
        premises: impl FnOnce() -> Vec<Premise>,
    ) -> Result<SavedPlan, EngineError> {
        assert!(options.assumed.is_none(), "a plan from assumed records is never carried out");
        let ExecutablePlan { plan, draft } =
            self.planned(program, options, kind, &mut Trace::default()).await?;
        let reach = Reach::of(program, &draft, &plan);
        let run = self.fresh_run();
        self.announce(&plan, &run);
        let observations = self.follows().map(|it| it.observations.answers()).unwrap_or_default();
        let premises = premises().into_iter().chain(self.provider_premises(&draft, &reach)).collect();
        let options = SavedOptions::of(options);
        Ok(SavedPlan { run, made_at, kind, options, premises, plan, reach, observations })
    }

    /// Carries a saved plan out, or refuses it with nothing changed (PLANFILE-1). The reconciler must be
    /// [`Reconciler::following`] it; of the options, those of the plan count. `begun` is told when it begins.
    pub async fn deploy_saved(
        &self,
        program: &Program,
        saved: &SavedPlan,
        options: &DeployOptions,
        cancellation: &Cancellation,
        begun: &mut dyn FnMut(&Plan),
    ) -> Result<RunReport, EngineError> {
        let scope = Scope::new(program.stack.clone(), options.plan.stage.clone());
        let options = DeployOptions { plan: saved.options.over(&options.plan), ..options.clone() };
        refuse_foreign(saved, &scope)?;
        let lease = self.take_lease(&scope, &options, &saved.run, saved.kind).await?;
        let working = async {
            let planned = self.planned_as_saved(program, saved, &options.plan, &scope).await?;
            begun(&planned.plan);
            let terms = RunTerms { kind: saved.kind, bound: true, waited: true };
            let (lease, options, run) = (&lease, &options, &saved.run);
            Ok(self.execute(Execution { lease, program, options, cancellation, run, terms }, planned).await)
        };
        let outcome = lease.kept_during(working).await;
        let released = lease.release().await;
        let mut report = outcome?;
        if let Err(error) = released {
            report.not_released(error);
        }
        Ok(report)
    }

    /// Refuses a saved plan that was begun already, or stands on what has changed. Takes no lease: it is for those who want
    /// to know before they build the program, and done again when the plan is carried out.
    pub async fn check_saved(&self, saved: &SavedPlan) -> Result<(), EngineError> {
        self.checked(saved, &saved.plan.scope).await.map(|_| ())
    }

    async fn checked(&self, saved: &SavedPlan, scope: &Scope) -> Result<Snapshot, EngineError> {
        if !self.store().history(scope, &saved.run).await?.is_empty() {
            let summary = format!("this plan was carried out already, as run {}", saved.run);
            return Err(Diagnostics::from(Diagnostic::error(summary).hint(PLAN_AGAIN)).into());
        }
        let snapshot = self.store().load(scope).await?;
        refuse(saved.reach.changed(&snapshot))?;
        Ok(snapshot)
    }

    /// The plan made again under the lease, if it comes out like the saved one and was never begun.
    async fn planned_as_saved<'p>(
        &'p self,
        program: &'p Program,
        saved: &SavedPlan,
        options: &'p PlanOptions,
        scope: &Scope,
    ) -> Result<ExecutablePlan<'p>, EngineError> {
        let snapshot = self.checked(saved, scope).await?;
        let sources = self.sources(program, options, saved.kind);
        let ExecutablePlan { plan, draft } =
            Box::pin(planner::plan(&sources, snapshot, &mut Trace::default())).await?;
        refuse(differences(saved, &plan))?;
        refuse(saved.reach.changed_dependents(&Reach::of(program, &draft, &plan)))?;
        let providers = |premises: &[Premise]| -> Vec<Premise> {
            premises.iter().filter(|it| it.kind == PremiseKind::Provider).cloned().collect()
        };
        refuse(changed_premises(&providers(&saved.premises), &self.provider_premises(&draft, &saved.reach)))?;
        Ok(ExecutablePlan { plan: saved.plan.clone(), draft })
    }

    /// The providers that a plan is made with, by their versions.
    fn provider_premises(&self, draft: &Draft<'_>, reach: &Reach) -> Vec<Premise> {
        let nodes = draft.nodes.iter().filter(|node| reach.addresses.contains(&node.address));
        let names: BTreeSet<&str> = nodes.map(|node| provider_named(&node.provider)).collect();
        let known = names.into_iter().filter_map(|name| Some((name, self.registry().provider(name)?)));
        let versioned = known.map(|(name, provider)| Premise {
            kind: PremiseKind::Provider,
            name: name.to_owned(),
            digest: provider.version().to_owned(),
            secret: false,
        });
        versioned.collect()
    }
}

fn refuse(wrong: Diagnostics) -> Result<(), EngineError> {
    if wrong.has_errors() { Err(wrong.into()) } else { Ok(()) }
}

/// A plan of another stack or stage.
fn refuse_foreign(saved: &SavedPlan, scope: &Scope) -> Result<(), EngineError> {
    let planned = &saved.plan.scope;
    if planned == scope {
        return Ok(());
    }
    let summary = format!(
        "the plan is for stage {} of stack {}, and this is stage {} of stack {}",
        planned.stage, planned.stack, scope.stage, scope.stack
    );
    Err(Diagnostics::from(Diagnostic::error(summary).hint("plan here, or deploy it where it was made"))
        .into())
}
