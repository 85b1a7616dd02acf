//! The job of continuous integration that a command is part of, by the variables that the usual services set.

use trueup_core::mask_credentials;
use trueup_engine::CiJob;

use crate::settings::Environment;

/// What a service sets.
struct Service {
    name: &'static str,
    /// The variable that tells the service from others.
    is_set: &'static str,
    /// What leads to the job: texts, and variables as `$NAME`.
    job: &'static [&'static str],
    /// The variable that says who set the job off.
    actor: &'static str,
}

const SERVICES: [Service; 8] = [
    Service {
        name: "GitHub Actions",
        is_set: "GITHUB_ACTIONS",
        job: &["$GITHUB_SERVER_URL", "/", "$GITHUB_REPOSITORY", "/actions/runs/", "$GITHUB_RUN_ID"],
        actor: "GITHUB_ACTOR",
    },
    Service { name: "GitLab CI", is_set: "GITLAB_CI", job: &["$CI_JOB_URL"], actor: "GITLAB_USER_LOGIN" },
    Service { name: "Jenkins", is_set: "JENKINS_URL", job: &["$BUILD_URL"], actor: "BUILD_USER_ID" },
    Service {
        name: "Buildkite",
        is_set: "BUILDKITE",
        job: &["$BUILDKITE_BUILD_URL", "#", "$BUILDKITE_JOB_ID"],
        actor: "BUILDKITE_BUILD_CREATOR",
    },
    Service { name: "CircleCI", is_set: "CIRCLECI", job: &["$CIRCLE_BUILD_URL"], actor: "CIRCLE_USERNAME" },
    Service {
        name: "Azure Pipelines",
        is_set: "TF_BUILD",
        job: &[
            "$SYSTEM_TEAMFOUNDATIONCOLLECTIONURI",
            "$SYSTEM_TEAMPROJECT",
            "/_build/results?buildId=",
            "$BUILD_BUILDID",
        ],
        actor: "BUILD_REQUESTEDFOR",
    },
    Service {
        name: "Bitbucket Pipelines",
        is_set: "BITBUCKET_BUILD_NUMBER",
        job: &["$BITBUCKET_GIT_HTTP_ORIGIN", "/pipelines/results/", "$BITBUCKET_BUILD_NUMBER"],
        actor: "BITBUCKET_STEP_TRIGGERER_UUID",
    },
    Service { name: "Drone", is_set: "DRONE", job: &["$DRONE_BUILD_LINK"], actor: "DRONE_COMMIT_AUTHOR" },
];

/// The job that the environment tells of.
pub(crate) fn job(environment: &Environment) -> Option<CiJob> {
    let service = SERVICES.iter().find(|service| environment.is_set(service.is_set))?;
    let part = |part: &&'static str| match part.strip_prefix('$') {
        Some(name) => environment.get(name).unwrap_or_default(),
        None => *part,
    };
    let job: String = service.job.iter().map(part).collect();
    let actor = environment.get(service.actor).map(str::to_owned);
    // An address may have a password in it.
    Some(CiJob { service: service.name.to_owned(), job: mask_credentials(&job).into_owned(), actor })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// STATE-8.
    #[test]
    fn a_job_is_told_with_its_place_and_without_passwords() {
        assert_eq!(job(&Environment::of([("CI", "true")])), None);
        let github = [
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_SERVER_URL", "https://github.com"),
            ("GITHUB_REPOSITORY", "ada/shop"),
            ("GITHUB_RUN_ID", "17"),
            ("GITHUB_ACTOR", "ada"),
        ];
        let told = job(&Environment::of(github)).unwrap();
        assert_eq!((told.service.as_str(), told.actor.as_deref()), ("GitHub Actions", Some("ada")));
        assert_eq!(told.job, "https://github.com/ada/shop/actions/runs/17");
        let gitlab = [("GITLAB_CI", "true"), ("CI_JOB_URL", "https://ci:hunter2@git.example.org/j/1")];
        let told = job(&Environment::of(gitlab)).unwrap();
        assert_eq!((told.job.as_str(), told.actor), ("https://ci:…@git.example.org/j/1", None));
    }
}
