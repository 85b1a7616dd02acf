use trueup::{Context, DataSource, NativeProvider, NoConfig, Result};

struct Weather {
    at: String,
}

struct Sun(bool);

impl DataSource for Weather {
    type Output = Sun;
    type Config = NoConfig;

    async fn read(&self, _: &Context) -> Result<Sun> {
        Ok(Sun(self.at.is_empty()))
    }
}

fn main() {
    let _ = NativeProvider::new("my").crud::<Weather>("weather");
}
