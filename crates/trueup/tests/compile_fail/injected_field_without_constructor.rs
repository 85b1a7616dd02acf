use trueup::{Context, DataSource, Inputs, NativeProvider, NoConfig, Outputs, Result};

#[derive(Clone)]
struct Client;

#[derive(Inputs)]
struct Weather {
    at: String,
    #[trueup(inject)]
    client: Client,
}

#[derive(Outputs)]
struct WeatherOutput {
    sun: bool,
}

impl DataSource for Weather {
    type Output = WeatherOutput;
    type Config = NoConfig;

    async fn read(&self, _: &Context) -> Result<WeatherOutput> {
        let _ = &self.client;
        Ok(WeatherOutput { sun: self.at.is_empty() })
    }
}

fn main() {
    let _ = NativeProvider::new("my").data::<Weather>("weather");
}
