//! A saved plan does what the plan would have done.

use futures_util::FutureExt;
use proptest::prelude::*;
use trueup_engine::{read_plan, write_plan};

use crate::laws::cases;
use crate::laws::course::Course;
use crate::laws::sketch::scenario;

proptest! {
    #![proptest_config(cases())]

    /// PLANFILE-1, PLANFILE-2, PLANFILE-3: through a file, without looking again, and never twice.
    #[test]
    fn a_saved_plan_leads_where_a_deploy_does(scenario in scenario(12)) {
        let mut course = Course::new(&scenario);
        for edits in &scenario.rounds {
            let edited = course.edit(edits);
            let program = edited.sketch.program();
            let Some(planned) = course.plan(&edited.sketch) else { continue };
            let saved = course.bench.try_save(&program, false).expect("it was planned");
            prop_assert_eq!(saved.plan.to_string(), planned.to_string());
            let bytes = write_plan(&saved, "memory", "test", None).now_or_never().expect("no key to wait for");
            let read = read_plan(&bytes.expect("it holds no secrets"), None).now_or_never();
            let read = read.expect("no key to wait for").expect("it reads");
            course.deploy_saved(&edited.sketch, &read);
            course.expect_settled();
            prop_assert!(course.bench.try_deploy_saved(&program, &read).is_err(), "it was used up");
        }
    }
}
