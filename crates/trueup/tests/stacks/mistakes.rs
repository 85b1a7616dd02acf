//! Mistakes in how a stack is put together, all at once and with their places.

use trueup::{Context, DataSource, Inputs, NoConfig, Outputs, Removal, Result, Stack};

use super::{Parcel, ShelfSettings, World};

/// A type that nobody registers.
#[derive(Inputs)]
struct Weather {
    at: String,
}

#[derive(Outputs)]
struct WeatherOutput {
    sun: bool,
}

impl DataSource for Weather {
    type Output = WeatherOutput;
    type Config = NoConfig;

    async fn read(&self, _: &Context) -> Result<WeatherOutput> {
        Ok(WeatherOutput { sun: self.at.is_empty() })
    }
}

#[test]
fn mistakes_are_reported_together() {
    let world = World::new();
    let declare = |stack: &mut Stack<'_>| {
        stack.data("sky", Weather::args().at("home"));
        stack.configure(Weather::args());
        stack.configure(ShelfSettings::args());
        stack.configure(ShelfSettings::args());
        stack.configure_as("far away", ShelfSettings::args());
        let it = stack.add("no name", Parcel::args().name("it").size(1u64));
        stack.moved("y_parcel", &it);
        stack.removed("module.", Removal::Forget);
        stack.output("name", it.name());
        stack.secret_output("name", it.name());
        stack.module("the rack", |_| {});
        stack.module("rack", |stack| stack.output("inside", it.name()));
    };
    let mistakes = world.declared(declare).unwrap_err();
    assert!(mistakes.iter().all(|mistake| mistake.origin.is_some() && !mistake.hints.is_empty()));
    let said: Vec<String> = mistakes.iter().map(|mistake| mistake.summary.clone()).collect();
    insta::assert_snapshot!(said.join("\n"));
}
