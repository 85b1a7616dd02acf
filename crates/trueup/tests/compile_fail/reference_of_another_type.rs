use trueup::{Address, Inputs, Outputs};

#[derive(Inputs)]
struct Worker {
    queue_url: String,
}

#[derive(Outputs)]
struct QueueOutput {
    length: u64,
}

fn main() -> Result<(), trueup::AddressError> {
    let queue = QueueOutput::refs(Address::resource("x_queue", "jobs")?);
    let _ = Worker::args().queue_url(queue.length());
    let _ = Worker::args().queue_url(5);
    let _ = queue.depth();
    Ok(())
}
