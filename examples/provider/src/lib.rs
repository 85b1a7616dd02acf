//! Notes in a folder: a provider with a resource type of each contract and a data source.

mod board;
mod memo;
mod note;
mod search;
mod shelf;

use trueup::NativeProvider;

pub use board::{Board, Settings};
pub use memo::Memo;
pub use note::Note;
pub use search::Search;
pub use shelf::Shelf;

/// The provider.
pub fn provider() -> NativeProvider<Board> {
    NativeProvider::configured("notes", Board::open)
        .versioned(env!("CARGO_PKG_VERSION"))
        .crud::<Note>("note")
        .crud::<Memo>("memo")
        .converge::<Shelf>("shelf")
        .data::<Search>("search")
}
